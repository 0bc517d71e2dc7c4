import { create } from "zustand";
import type { ChatMessage, Conversation } from "../chat/message";
import type { Hit, HistoryClient } from "./api";
import { startHistory } from "./client";

interface HistoryState {
  /** Whether the chats are there, or cannot be. */
  opened: boolean;
  client: HistoryClient | null;
  kept: boolean;
  error: string | null;
  conversations: Conversation[];
  search: { typed: string; hits: Hit[] } | null;
  open: () => Promise<void>;
  close: () => Promise<void>;
  refresh: () => Promise<void>;
  find: (typed: string) => Promise<void>;
  /**
   * Writes a conversation and shows it in the list. Where there is no room for it, error says so and the chat goes on.
   */
  save: (conversation: Conversation) => Promise<void>;
  /** Writes a message, in the same way. */
  saveMessage: (message: ChatMessage) => Promise<void>;
  saveMedia: (id: string, conversationId: string, data: Uint8Array) => Promise<void>;
  remove: (id: string) => Promise<void>;
  restore: (id: string) => Promise<void>;
}

let stop: (() => void) | null = null;
/** What is written before the database is open waits for it. */
let opening: Promise<void> = Promise.resolve();

/** Conversations deleted longer ago than this are gone for good at the next start. */
const keepDeleted = 60 * 60 * 1000;

/** whenOpened waits until the chats are there, or cannot be. */
export function whenOpened(): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = useHistory.subscribe(({ opened }) => settle(opened));
    const settle = (opened: boolean) => {
      if (!opened) return;
      unsubscribe();
      resolve();
    };
    settle(useHistory.getState().opened);
  });
}

/** What kept a chat from being written, as a sentence. */
export function sentenceOf(error: unknown): string {
  const detail = error instanceof Error ? error.message : String(error);
  return /SQLITE_FULL|SQLITE_IOERR|disk is full|disk I\/O|quota/i.test(detail)
    ? "The browser's storage is full. Delete a model or old chats, then reload the page."
    : detail;
}

export const useHistory = create<HistoryState>()((set, get) => {
  const write = async (work: (client: HistoryClient) => Promise<void>) => {
    await opening;
    const { client } = get();
    try {
      if (client) await work(client);
    } catch (error) {
      // A database that was closed meanwhile, by a hand-over, has lost nothing.
      if (get().client === client) set({ error: sentenceOf(error) });
    }
  };
  return {
    opened: false,
    client: null,
    kept: true,
    error: null,
    conversations: [],
    search: null,

    open: () => {
      const history = startHistory();
      stop = history.stop;
      const work = async () => {
        try {
          const { kept } = await history.client.open();
          await history.client.purge(Date.now() - keepDeleted);
          const stored = await history.client.list();
          // A chat that was begun meanwhile is written next, and is shown already.
          const begun = get().conversations.filter(({ id }) => !stored.some((one) => one.id === id));
          set({ client: history.client, conversations: [...begun, ...stored], kept, error: null, opened: true });
        } catch (error) {
          history.stop();
          set({ error: sentenceOf(error), opened: true });
        }
      };
      opening = work();
      return opening;
    },

    close: async () => {
      const { client } = get();
      const end = stop;
      stop = null;
      set({ client: null, conversations: [], search: null, opened: false });
      await client?.close();
      end?.();
    },

    refresh: async () => {
      const conversations = await get().client?.list();
      if (conversations) set({ conversations });
      const { search } = get();
      if (search) await get().find(search.typed);
    },

    find: async (typed) => {
      if (typed.trim() === "") {
        set({ search: null });
        return;
      }
      const hits = (await get().client?.search(typed)) ?? [];
      set({ search: { typed, hits } });
    },

    save: async (conversation) => {
      const others = get().conversations.filter(({ id }) => id !== conversation.id);
      set({ conversations: [conversation, ...others].sort((a, b) => b.updatedAt - a.updatedAt) });
      await write((client) => client.saveConversation(conversation));
    },

    saveMessage: (message) => write((client) => client.saveMessage(message)),

    saveMedia: (id, conversationId, data) => write((client) => client.saveMedia(id, conversationId, data)),

    remove: async (id) => {
      set({ conversations: get().conversations.filter((conversation) => conversation.id !== id) });
      await get().client?.remove(id);
      await get().refresh();
    },

    restore: async (id) => {
      await get().client?.restore(id);
      await get().refresh();
    },
  };
});
