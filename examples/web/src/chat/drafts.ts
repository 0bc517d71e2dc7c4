// What is being written, by chat. It stays when another page is looked at; the text also stays over a reload.
import { create } from "zustand";
import { useToasts } from "../app/toasts";
import type { Attachment, Conversation } from "./message";
import type { Tree } from "./tree";

export interface Draft {
  text: string;
  attachments: readonly Attachment[];
  /** Attachments that a reload has taken. */
  lost: number;
}

interface DraftState {
  drafts: ReadonlyMap<string, Draft>;
  change: (key: string, change: (draft: Draft) => Partial<Draft>) => void;
  drop: (key: string) => void;
}

const name = "gemwire.drafts";
/** Of chats whose drafts are kept, the newest. */
const most = 50;
const saveAfter = 300;

export const emptyDraft: Draft = { text: "", attachments: [], lost: 0 };

const isEmpty = ({ text, attachments, lost }: Draft) => text === "" && attachments.length === 0 && lost === 0;

/** draftKey is what a chat's draft is kept under; chats that have not begun share one. */
export const draftKey = (conversation: Conversation, tree: Tree): string =>
  tree.byId.size === 0 ? "new" : conversation.id;

let timer: ReturnType<typeof setTimeout> | undefined;

export const useDraftStore = create<DraftState>()((set, get) => {
  const put = (drafts: ReadonlyMap<string, Draft>) => {
    set({ drafts });
    clearTimeout(timer);
    timer = setTimeout(saveDrafts, saveAfter);
  };
  return {
    drafts: new Map(),
    change: (key, change) => {
      const before = get().drafts.get(key) ?? emptyDraft;
      const draft = { ...before, ...change(before) };
      const drafts = new Map(get().drafts);
      drafts.delete(key);
      if (!isEmpty(draft)) drafts.set(key, draft);
      put(new Map([...drafts].slice(-most)));
    },
    drop: (key) => put(new Map([...get().drafts].filter(([one]) => one !== key))),
  };
});

interface Saved {
  text: string;
  attached: number;
}

/** saveDrafts writes the drafts down, at once. */
export function saveDrafts(): void {
  clearTimeout(timer);
  const saved: Record<string, Saved> = {};
  for (const [key, { text, attachments, lost }] of useDraftStore.getState().drafts)
    saved[key] = { text, attached: attachments.length + lost };
  try {
    localStorage.setItem(name, JSON.stringify(saved));
  } catch {
    useToasts
      .getState()
      .warn("The browser's storage is full. The message that you are writing is lost when you close the page.");
  }
}

/** loadDrafts takes over what was written down, in place of what there is. */
export function loadDrafts(): void {
  useDraftStore.setState({ drafts: new Map(savedDrafts()) });
}

function savedDrafts(): [string, Draft][] {
  let saved: unknown;
  try {
    saved = JSON.parse(localStorage.getItem(name) ?? "{}");
  } catch {
    return [];
  }
  if (typeof saved !== "object" || saved === null) return [];
  return Object.entries(saved)
    .slice(-most)
    .flatMap(([key, value]: [string, Partial<Saved> | null]): [string, Draft][] => {
      const { text, attached } = value ?? {};
      if (typeof text !== "string") return [];
      const lost = typeof attached === "number" && attached > 0 ? attached : 0;
      return [[key, { ...emptyDraft, text, lost }]];
    });
}

/** keepDraftsOf lets go of the drafts of chats that are no longer there. */
export function keepDraftsOf(ids: readonly string[]): void {
  const chats = new Set(["new", ...ids]);
  for (const key of useDraftStore.getState().drafts.keys()) if (!chats.has(key)) useDraftStore.getState().drop(key);
}
