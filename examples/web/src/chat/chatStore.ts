import { create } from "zustand";
import { chatHref, goTo, replaceWith } from "../app/route";
import { useHistory } from "../history/historyStore";
import { canAnswer } from "../server/answerFrom";
import { useSettings } from "../settings/settingsStore";
import { answererNow, stopAnswer } from "./answerer";
import { forgetMedia, keep, mediaOf } from "./attachments/media";
import {
  emptyOptions,
  newConversation,
  newId,
  titleFrom,
  type Attachment,
  type Call,
  type ChatMessage,
  type Conversation,
  type ConversationOptions,
} from "./message";
import { endingOf } from "./ending";
import { isJson } from "./form/answerForm";
import { chatOptionsOf, promptOf, toolsOf } from "./prompt";
import { streamAnswer, type Prefill } from "./streamAnswer";
import { pageTools } from "./tools/pageTools";
import { newestLeaf, pathTo, siblingLeaf, treeOf, withMessage, type Tree } from "./tree";

/** The answer under way; it goes on when another chat is looked at. */
export interface Run {
  message: ChatMessage;
  prefill: Prefill | null;
}

interface ChatState {
  conversation: Conversation;
  tree: Tree;
  run: Run | null;
  /** Read out to screen readers when an answer ends. */
  announcement: string;

  show: (id: string | null) => Promise<void>;
  /** Goes to a new chat with these options. */
  begin: (options: Partial<ConversationOptions>) => void;
  ask: (question: string, attachments?: readonly Attachment[]) => Promise<void>;
  regenerate: (answer: ChatMessage) => Promise<void>;
  edit: (question: ChatMessage, text: string) => Promise<void>;
  /** Gives the result of a call that the reader has to answer. */
  answerCall: (answer: ChatMessage, call: Call, result: string) => Promise<void>;
  step: (message: ChatMessage, by: 1 | -1) => Promise<void>;
  setOptions: (change: Partial<ConversationOptions>) => Promise<void>;
  rename: (id: string, title: string) => Promise<void>;
  /** Has all chats know an adapter by its new name. */
  renameAdapter: (from: string, to: string) => Promise<void>;
  stop: () => void;
  /** Lets go of what another tab may change from now on. */
  forget: () => void;
}

const saveEvery = 1500;
/** Calls that a model may make in a row before the reader is asked. */
const maxCallRounds = 8;

export const useChat = create<ChatState>()((set, get) => {
  const client = () => useHistory.getState().client;

  const put = async (message: ChatMessage) => {
    if (get().conversation.id === message.conversationId) set({ tree: withMessage(get().tree, message) });
    await useHistory.getState().saveMessage(message);
  };

  const update = async (change: Partial<Conversation>, of: Conversation = get().conversation) => {
    const conversation = { ...of, ...change };
    if (get().conversation.id === of.id) set({ conversation });
    await useHistory.getState().save(conversation);
  };

  /** The newest state of a conversation, whether it is shown or not. */
  const current = (conversation: Conversation): Conversation => {
    const shown = get().conversation;
    if (shown.id === conversation.id) return shown;
    return useHistory.getState().conversations.find(({ id }) => id === conversation.id) ?? conversation;
  };

  /** Streams answers under a message until the model has no more calls that the page can answer. */
  const answer = async (from: Conversation, tree: Tree, parentId: string): Promise<void> => {
    const answerer = answererNow();
    if (get().run || !answerer) return;
    let path = pathTo(tree, parentId);
    for (let round = 0; round < maxCallRounds; round++) {
      const conversation = current(from);
      const { options } = conversation;
      const settings = useSettings.getState();
      const started: ChatMessage = {
        id: newId(),
        conversationId: conversation.id,
        parentId: path.at(-1)?.id ?? null,
        role: "assistant",
        content: "",
        status: "streaming",
        model: answerer.label(options),
        createdAt: Date.now(),
        ...(isJson(options.form) ? { json: true } : {}),
      };
      set({ run: { message: started, prefill: null }, announcement: "Answering" });
      await put(started);
      await update({ leafId: started.id, updatedAt: Date.now() }, current(conversation));

      let saved = performance.now();
      const { message } = await streamAnswer({
        message: started,
        events: answerer.answer(
          options,
          promptOf(path, {
            system: options.system.trim() || settings.system,
            imageBudget: options.imageBudget ?? settings.imageBudget,
            media: await mediaOf(path),
          }),
          {
            ...chatOptionsOf(options.sampling ?? settings.sampling, toolsOf(options)),
            forget: settings.forget,
          },
        ),
        onUpdate: (streamed) => {
          set({ run: streamed });
          if (performance.now() - saved < saveEvery) return;
          saved = performance.now();
          void useHistory.getState().saveMessage(streamed.message);
        },
      });
      await put(message);
      // Where memory is short, what images and recordings need goes until the next ones come.
      if (message.usage?.media && matchMedia("(pointer: coarse)").matches) await answerer.releaseTowers();

      path = [...path, message];
      const results = message.status === "done" ? await runCalls(message) : [];
      path.push(...results);
      const last = path.at(-1);
      if (last) await update({ leafId: last.id, updatedAt: Date.now() }, current(conversation));
      if (results.length === 0 || results.length < (message.calls?.length ?? 0)) {
        set({ run: null, announcement: announce(message) });
        return;
      }
    }
    set({ run: null });
  };

  /** Runs the page's own tools; calls of others wait for the reader. */
  const runCalls = async (answered: ChatMessage): Promise<ChatMessage[]> => {
    const results: ChatMessage[] = [];
    for (const call of answered.calls ?? []) {
      const tool = pageTools.find(({ name }) => name === call.name);
      if (!tool) break;
      const result = resultMessage(answered, results.at(-1)?.id ?? answered.id, call, tool.run(call.arguments));
      await put(result);
      results.push(result);
    }
    return results;
  };

  const idle = () => get().run === null && canAnswer();

  const askUnder = async (parentId: string | null, question: string, attachments: readonly Attachment[]) => {
    if (!idle()) return;
    const { conversation, tree } = get();
    const message: ChatMessage = {
      id: newId(),
      conversationId: conversation.id,
      parentId,
      role: "user",
      content: question,
      status: "done",
      createdAt: Date.now(),
      ...(attachments.length > 0 ? { attachments: [...attachments] } : {}),
    };
    const title =
      conversation.named || tree.byId.size > 0
        ? conversation.title
        : titleFrom(question || (attachments[0]?.name ?? ""));
    const asked = { ...conversation, title, leafId: message.id, updatedAt: Date.now() };
    const grown = withMessage(tree, message);
    set({ conversation: asked, tree: grown });
    if (tree.byId.size === 0) replaceWith(chatHref(asked.id));
    // The database's worker does things in the order in which they were asked of it.
    const saving = Promise.all([
      useHistory.getState().save(asked),
      useHistory.getState().saveMessage(message),
      keep(attachments, asked.id),
    ]);
    await answer(asked, grown, message.id);
    await saving;
  };

  return {
    conversation: newConversation(),
    tree: treeOf([]),
    run: null,
    announcement: "",

    show: async (id) => {
      const { conversation: shown, tree: grown } = get();
      // A chat that has not begun is the new one, with the options that it was given.
      if (id === shown.id || (id === null && grown.byId.size === 0)) return;
      const conversation = useHistory.getState().conversations.find((candidate) => candidate.id === id);
      if (!conversation) {
        set({ conversation: newConversation(), tree: treeOf([]), announcement: "" });
        return;
      }
      const stored = (await client()?.messages(conversation.id)) ?? [];
      const live = get().run?.message;
      const tree = treeOf(stored);
      set({
        conversation: current(conversation),
        tree: live?.conversationId === conversation.id ? withMessage(tree, live) : tree,
        announcement: "",
      });
    },

    begin: (options) => {
      set({
        conversation: { ...newConversation(), options: { ...emptyOptions(), ...options } },
        tree: treeOf([]),
        announcement: "",
      });
      goTo(chatHref(null));
    },

    ask: (question, attachments = []) => askUnder(get().conversation.leafId, question, attachments),

    regenerate: async (message) => {
      if (!idle() || message.parentId === null) return;
      await answer(get().conversation, get().tree, message.parentId);
    },

    edit: (question, text) => askUnder(question.parentId, text, question.attachments ?? []),

    answerCall: async (message, call, result) => {
      if (!idle()) return;
      const { conversation, tree } = get();
      const leaf = newestLeaf(tree, message.id) ?? message.id;
      const added = resultMessage(message, leaf, call, result);
      await put(added);
      const path = pathTo(get().tree, added.id);
      const open = (message.calls ?? []).filter(({ id }) => !path.some(({ callId }) => callId === id));
      await update({ leafId: added.id, updatedAt: Date.now() });
      if (open.length === 0) await answer(conversation, get().tree, added.id);
    },

    step: async (message, by) => {
      const leafId = siblingLeaf(get().tree, message, by);
      if (leafId !== null) await update({ leafId });
    },

    setOptions: async (change) => {
      const { conversation, tree } = get();
      const options = { ...conversation.options, ...change };
      // An empty chat is not in the history yet; its options go there with the first question.
      if (tree.byId.size === 0) set({ conversation: { ...conversation, options } });
      else await update({ options });
    },

    rename: async (id, title) => {
      const conversation =
        get().conversation.id === id
          ? get().conversation
          : useHistory.getState().conversations.find((one) => one.id === id);
      const name = title.trim();
      if (conversation && name !== "") await update({ title: name, named: true }, conversation);
    },

    renameAdapter: async (from, to) => {
      const renamed = ({ options }: Conversation) => ({
        ...options,
        adapters: options.adapters.map((use) => (use.name === from ? { ...use, name: to } : use)),
      });
      const { conversation } = get();
      const others = useHistory.getState().conversations.filter(({ id }) => id !== conversation.id);
      set({ conversation: { ...conversation, options: renamed(conversation) } });
      for (const one of [...others, ...(get().tree.byId.size > 0 ? [conversation] : [])]) {
        if (one.options.adapters.some(({ name }) => name === from)) await update({ options: renamed(one) }, one);
      }
    },

    stop: () => {
      if (get().run) stopAnswer();
    },

    forget: () => {
      forgetMedia();
      set({ conversation: newConversation(), tree: treeOf([]), run: null, announcement: "" });
    },
  };
});

function resultMessage(answered: ChatMessage, parentId: string, call: Call, content: string): ChatMessage {
  return {
    id: newId(),
    conversationId: answered.conversationId,
    parentId,
    role: "tool",
    content,
    callId: call.id,
    toolName: call.name,
    status: "done",
    createdAt: Date.now(),
  };
}

function announce(message: ChatMessage): string {
  // Its sentence is an alert already.
  if (message.status === "failed") return "The answer failed.";
  if (message.status === "stopped") return "The answer was stopped.";
  const waiting = message.calls?.length ? "The model called a tool and is waiting for its result." : "";
  return `${message.content} ${waiting}`.trim() || (endingOf(message) ?? "");
}
