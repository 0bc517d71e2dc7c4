import type { ChatMessage, Conversation } from "../chat/message";

/** Where a search hit lies; the marks \u0001 and \u0002 stand around the words that were found. */
export interface Hit {
  conversationId: string;
  messageId: string | null;
  snippet: string;
}

/** The bytes of an attachment. */
export interface Medium {
  id: string;
  conversationId: string;
  data: Uint8Array;
}

/** How many chats of an archive have been written. */
export interface Inserted {
  done: number;
  total: number;
}

export interface Opened {
  /** False in windows without OPFS (some private windows): nothing outlives the page. */
  kept: boolean;
}

/** What the worker of the database does. Every call is one transaction. */
export interface HistoryApi {
  open: () => Promise<Opened>;
  close: () => void;
  list: () => Conversation[];
  messages: (conversationId: string) => ChatMessage[];
  saveConversation: (conversation: Conversation) => void;
  saveMessage: (message: ChatMessage) => void;
  /** The bytes of an image or a recording; several messages of a conversation may show the same. */
  saveMedia: (id: string, conversationId: string, data: Uint8Array) => void;
  media: (id: string) => Uint8Array | null;
  /** Hides a conversation; restore brings it back until purge. */
  remove: (conversationId: string) => void;
  restore: (conversationId: string) => void;
  purge: (before: number) => void;
  search: (typed: string) => Hit[];
  /** Checks an export, whoever wrote it; insertNext then writes what is not here yet. Both read it piece by piece. */
  readArchive: (file: Blob) => Promise<Inserted>;
  /** Writes the next chats of the archive that was read. */
  insertNext: () => Promise<Inserted>;
  /** All chats with their messages and attachments, as a file. */
  archive: () => Blob;
}

type Method = keyof HistoryApi;

export interface Call {
  id: number;
  method: Method;
  args: unknown[];
}

export type Reply = { id: number; ok: true; value: unknown } | { id: number; ok: false; message: string };

/** The same methods as seen from the page. */
export type HistoryClient = {
  [M in Method]: (...args: Parameters<HistoryApi[M]>) => Promise<Awaited<ReturnType<HistoryApi[M]>>>;
};
