import type { GemwireError, Usage } from "gemwire";
import type { AdapterUse } from "../adapters/answering";
import { freeForm, type AnswerForm } from "./form/answerForm";
import type { ImageBudget } from "../settings/settingsStore";

export type Role = "user" | "assistant" | "tool";

/** How an answer ended. "streaming" in the database means that the page went away in the middle. */
export type Status = "streaming" | "done" | "stopped" | "length" | "repetition" | "interrupted" | "failed";

export interface Call {
  id: string;
  name: string;
  arguments: unknown;
}

/** An image or a recording of a question; its bytes lie in the history under its id. */
export interface Attachment {
  id: string;
  kind: "image" | "audio";
  name: string;
  /** Of the file, such as "image/png". */
  type: string;
  /** Bytes. */
  size: number;
  /** Of an image that was taken from a video: where it stands there, in seconds. */
  at?: number;
  /** Of an image that is a frame of a video: which one, its number in the whole, and how many a second that has. */
  video?: { id: string; index: number; fps: number };
}

/** One node of a conversation's tree. Siblings are other answers, or other wordings of a question. */
export interface ChatMessage {
  id: string;
  conversationId: string;
  parentId: string | null;
  role: Role;
  content: string;
  attachments?: Attachment[];
  thinking?: string;
  calls?: Call[];
  /** What was mended of its calls. */
  mended?: string[];
  /** Calls that the model wrote wrongly, as text. */
  malformed?: string[];
  /** Of an answer: how many of the oldest messages the model was not told, and how many it was. */
  forgotten?: { messages: number; known: number };
  /** For role "tool": the call that this answers. */
  callId?: string;
  toolName?: string;
  status: Status;
  /** One sentence for the reader; with status "failed". */
  error?: string;
  /** What kind of failure it was. */
  failure?: GemwireError["code"];
  /** Of an answer that was held to JSON. */
  json?: true;
  usage?: Usage;
  model?: string;
  createdAt: number;
}

export interface Sampling {
  temperature: number;
  topK: number;
  topP: number;
  minP: number;
  repetitionPenalty: number;
  maxTokens: number;
  /** null: another one each time. */
  seed: number | null;
  thinking: boolean;
  /** What was thought before the tool calls of earlier turns stays in the prompt. */
  preserveThinking: boolean;
  /** Tokens after which a thought is ended; 0 for no bound. */
  thinkingBudget: number;
  /** An answer whose last so many tokens repeat one text is ended; 0 for never. */
  repetitionGuard: number;
}

export interface ConversationOptions {
  system: string;
  /** null: the defaults of the settings page. */
  sampling: Sampling | null;
  /** null: that of the settings page. */
  imageBudget: ImageBudget | null;
  /** What the model answers with besides itself. */
  adapters: AdapterUse[];
  /** Names of the built-in tools that the model may call. */
  tools: string[];
  /** Further tools, declared by the reader, who also answers their calls. */
  ownTools: string;
  /** What answers are held to. */
  form: AnswerForm;
}

export interface Conversation {
  id: string;
  title: string;
  /** True once the reader has named it; the first question names it before. */
  named: boolean;
  options: ConversationOptions;
  /** The message that the open branch ends in. */
  leafId: string | null;
  createdAt: number;
  updatedAt: number;
}

export const newId = (): string => crypto.randomUUID();

export const emptyOptions = (): ConversationOptions => ({
  system: "",
  sampling: null,
  imageBudget: null,
  adapters: [],
  tools: [],
  ownTools: "",
  form: freeForm,
});

export function newConversation(now = Date.now()): Conversation {
  return {
    id: newId(),
    title: "New chat",
    named: false,
    options: emptyOptions(),
    leafId: null,
    createdAt: now,
    updatedAt: now,
  };
}

const titleLength = 60;

/** titleFrom makes a title of the first question: its first line, cut at a word. */
export function titleFrom(question: string): string {
  const line = question.trim().split("\n", 1)[0]?.replace(/\s+/g, " ").trim() ?? "";
  if (line === "") return "New chat";
  if (line.length <= titleLength) return line;
  const cut = line.slice(0, titleLength);
  const space = cut.lastIndexOf(" ");
  return `${space > titleLength / 2 ? cut.slice(0, space) : cut}…`;
}
