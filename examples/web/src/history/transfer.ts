import { answerFormOf } from "../chat/form/answerForm";
import { JSONParser } from "@streamparser/json";
import type { AdapterUse } from "../adapters/answering";
import {
  emptyOptions,
  newId,
  type Attachment,
  type ChatMessage,
  type Conversation,
  type ConversationOptions,
  type Role,
  type Status,
} from "../chat/message";
import { samplingOf } from "../settings/sampling";
import { budgetOf } from "../settings/settingsStore";
import type { Medium } from "./api";
import { fromBase64, toBase64 } from "./base64";
import { groupBy } from "./groupBy";

const format = "gemwire-chats";
const version = 1;
// Of characters, but for chat: the bytes that a chat may have.
const limits = { conversations: 20_000, messages: 1_000_000, text: 4_000_000, data: 50_000_000, chat: 400_000_000 };

export interface Archive {
  conversations: Conversation[];
  messages: ChatMessage[];
  media: Medium[];
}

export function exportJson({ conversations, messages, media }: Archive, now = new Date()): string {
  const byConversation = groupBy(messages, ({ conversationId }) => conversationId);
  const mediaOf = groupBy(media, ({ conversationId }) => conversationId);
  return JSON.stringify(
    {
      format,
      version,
      exported: now.toISOString(),
      conversations: conversations.map((conversation) => ({
        ...conversation,
        messages: (byConversation.get(conversation.id) ?? []).map((message) => ({
          ...message,
          conversationId: undefined,
        })),
        media: mediaOf.get(conversation.id)?.map(({ id, data }) => ({ id, data: toBase64(data) })),
      })),
    },
    null,
    1,
  );
}

/**
 * readChats reads an export, whoever wrote it, chat by chat, or throws an Error that says what is wrong with it. Of the
 * file it holds no more than a chat and a piece at a time.
 */
export async function* readChats(file: Blob): AsyncGenerator<Archive, void> {
  const reader = new ChatReader();
  const pieces = file.stream().getReader();
  try {
    for (;;) {
      const { done, value } = await pieces.read();
      yield* done ? reader.end() : reader.read(value);
      if (done) break;
    }
    if (reader.count === 0) await listOf(file);
  } finally {
    await pieces.cancel().catch(() => undefined);
  }
}

/** ChatReader turns the pieces of a file into chats. */
class ChatReader {
  count = 0;
  #messages = 0;
  #bytes = 0; // since the last chat
  #head: Record<string, unknown> = {};
  #found: Archive[] = [];
  #wrong: Error | null = null;
  #parser = new JSONParser({ paths: ["$.format", "$.version", "$.conversations.*"], keepStack: false });

  constructor() {
    this.#parser.onValue = ({ value, key, stack }) => {
      if (this.#wrong) return;
      try {
        if (stack.length === 1) this.#head[String(key)] = value;
        else this.#take(value, key);
      } catch (error) {
        this.#wrong = error as Error;
      }
    };
    this.#parser.onError = () => {
      this.#wrong ??= new Error("This is not a JSON file.");
    };
  }

  read(piece: Uint8Array): Archive[] {
    this.#bytes += piece.length;
    if (this.#bytes > limits.chat) throw new Error("This file has a chat that is too large.");
    this.#feed(() => this.#parser.write(piece));
    return this.#found.splice(0);
  }

  end(): Archive[] {
    if (!this.#parser.isEnded) this.#feed(() => this.#parser.end());
    this.#checkHead();
    return this.#found.splice(0);
  }

  #feed(work: () => void): void {
    try {
      work();
    } catch {
      this.#wrong ??= new Error("This is not a JSON file.");
    }
    if (this.#wrong) throw this.#wrong;
  }

  #checkHead(): void {
    if (this.#head.format !== format) throw new Error("This file was not exported by gemwire.");
    if (this.#head.version !== version) throw new Error("This file comes from a newer gemwire.");
  }

  #take(value: unknown, key: unknown): void {
    this.#checkHead();
    if (typeof key !== "number") throw new Error("This file is damaged: a list is missing.");
    if (++this.count > limits.conversations) throw new Error("This file is too large to import at once.");
    const chat = chatOf(record(value));
    this.#messages += chat.messages.length;
    if (this.#messages > limits.messages) throw new Error("This file has too many messages.");
    this.#bytes = 0;
    this.#found.push(chat);
  }
}

// listOf tells a file with an empty list from one without a list.
async function listOf(file: Blob): Promise<void> {
  const most = 1_000_000;
  const value: unknown = file.size > most ? null : JSON.parse(await file.text());
  array(record(value).conversations, 0);
}

function chatOf(one: Record<string, unknown>): Archive {
  const conversation = conversationOf(one);
  const media = one.media === undefined ? [] : array(one.media, limits.messages);
  return {
    conversations: [conversation],
    messages: array(one.messages, limits.messages).map((message) => messageOf(record(message), conversation.id)),
    media: media.map((medium) => mediumOf(record(medium), conversation.id)),
  };
}

/**
 * freshIds gives the conversations that are already there, and all of their messages, new ids, and drops those
 * that have not changed since they were exported, and those with an id of taken, which it adds to.
 */
export function freshIds(
  archive: Archive,
  known: ReadonlyMap<string, Conversation>,
  taken: Set<string> = new Set(),
): Archive {
  const messagesOf = groupBy(archive.messages, ({ conversationId }) => conversationId);
  const mediaOf = groupBy(archive.media, ({ conversationId }) => conversationId);
  const result: Archive = { conversations: [], messages: [], media: [] };
  for (const conversation of archive.conversations) {
    const twin = known.get(conversation.id);
    if (isThere(conversation, known) || taken.has(conversation.id)) continue;
    taken.add(conversation.id);
    // Messages and media always get new ids: an id that another conversation has would overwrite its message.
    const ids = new Map(
      [...(messagesOf.get(conversation.id) ?? []), ...(mediaOf.get(conversation.id) ?? [])].map(({ id }) => [
        id,
        newId(),
      ]),
    );
    const renamed = (id: string | null) => (id === null ? null : (ids.get(id) ?? null));
    const id = twin ? newId() : conversation.id;
    result.conversations.push({ ...conversation, id, leafId: renamed(conversation.leafId) });
    for (const message of messagesOf.get(conversation.id) ?? []) {
      const { attachments } = message;
      result.messages.push({
        ...message,
        id: renamed(message.id) ?? newId(),
        conversationId: id,
        parentId: renamed(message.parentId),
        ...(attachments
          ? { attachments: attachments.map((attachment) => ({ ...attachment, id: renamed(attachment.id) ?? newId() })) }
          : {}),
      });
    }
    for (const medium of mediaOf.get(conversation.id) ?? [])
      result.media.push({ ...medium, id: renamed(medium.id) ?? newId(), conversationId: id });
  }
  return result;
}

/** isThere says whether a conversation is there as it was exported. */
export const isThere = ({ id, updatedAt }: Conversation, known: ReadonlyMap<string, Conversation>): boolean =>
  known.get(id)?.updatedAt === updatedAt;

function conversationOf(value: Record<string, unknown>): Conversation {
  const options = value.options === undefined ? {} : (record(value.options) as Partial<ConversationOptions>);
  return {
    id: string(value.id, "id"),
    title: string(value.title, "title"),
    named: value.named === true,
    options: {
      ...emptyOptions(),
      ...(typeof options.system === "string" ? { system: options.system } : {}),
      ...(typeof options.ownTools === "string" ? { ownTools: options.ownTools } : {}),
      ...(options.sampling ? { sampling: samplingOf(options.sampling) } : {}),
      imageBudget: budgetOf(options.imageBudget),
      form: answerFormOf(options.form),
      ...(Array.isArray(options.adapters) ? { adapters: options.adapters.flatMap(adapterUseOf) } : {}),
      ...(Array.isArray(options.tools) ? { tools: options.tools.filter((name) => typeof name === "string") } : {}),
    },
    leafId: typeof value.leafId === "string" ? value.leafId : null,
    createdAt: time(value.createdAt),
    updatedAt: time(value.updatedAt),
  };
}

function adapterUseOf(value: unknown): AdapterUse[] {
  const { name, weight } = record(value);
  return typeof name === "string" && typeof weight === "number" && Number.isFinite(weight) ? [{ name, weight }] : [];
}

const roles: readonly Role[] = ["user", "assistant", "tool"];
const statuses: readonly Status[] = ["done", "stopped", "length", "repetition", "interrupted", "failed"];

function messageOf(value: Record<string, unknown>, conversationId: string): ChatMessage {
  const role = roles.find((known) => known === value.role);
  if (!role) throw new Error("A message has a role that gemwire does not know.");
  const message: ChatMessage = {
    id: string(value.id, "id"),
    conversationId,
    parentId: typeof value.parentId === "string" ? value.parentId : null,
    role,
    content: string(value.content, "content"),
    status: statuses.find((known) => known === value.status) ?? "interrupted",
    createdAt: time(value.createdAt),
  };
  for (const key of ["thinking", "callId", "toolName", "error", "model"] as const) {
    if (typeof value[key] === "string") message[key] = string(value[key], key);
  }
  if (value.json === true) message.json = true;
  if (Array.isArray(value.calls)) message.calls = value.calls.map((call) => callOf(record(call)));
  if (Array.isArray(value.attachments))
    message.attachments = value.attachments.map((attachment) => attachmentOf(record(attachment)));
  for (const key of ["mended", "malformed"] as const) {
    const texts = value[key];
    if (Array.isArray(texts)) message[key] = texts.filter((text) => typeof text === "string");
  }
  return message;
}

function callOf(value: Record<string, unknown>) {
  return { id: string(value.id, "id"), name: string(value.name, "name"), arguments: value.arguments };
}

function attachmentOf(value: Record<string, unknown>): Attachment {
  const { kind, size, at } = value;
  if (kind !== "image" && kind !== "audio") throw new Error("A message has an attachment that gemwire does not know.");
  const type = string(value.type, "type");
  return {
    id: string(value.id, "id"),
    kind,
    name: string(value.name, "name"),
    type: type.startsWith(`${kind}/`) ? type : "",
    size: typeof size === "number" && size >= 0 ? size : 0,
    ...(typeof at === "number" && at >= 0 ? { at } : {}),
    ...(kind === "image" && value.video !== undefined ? { video: frameOf(record(value.video)) } : {}),
  };
}

function frameOf({ id, index, fps }: Record<string, unknown>): NonNullable<Attachment["video"]> {
  if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || typeof fps !== "number" || !(fps > 0))
    throw new Error("This file is damaged: a frame of a video has no place.");
  return { id: string(id, "id"), index, fps };
}

function mediumOf(value: Record<string, unknown>, conversationId: string): Medium {
  try {
    return { id: string(value.id, "id"), conversationId, data: fromBase64(string(value.data, "data", limits.data)) };
  } catch {
    throw new Error("This file is damaged: an attachment cannot be read.");
  }
}

function record(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error("This file is damaged: an object is missing.");
  return value as Record<string, unknown>;
}

function array(value: unknown, limit: number): unknown[] {
  if (!Array.isArray(value)) throw new Error("This file is damaged: a list is missing.");
  if (value.length > limit) throw new Error("This file is too large to import at once.");
  return value;
}

function string(value: unknown, name: string, most = limits.text): string {
  if (typeof value !== "string") throw new Error(`This file is damaged: "${name}" is missing.`);
  if (value.length > most) throw new Error(`This file is damaged: "${name}" is too long.`);
  return value;
}

function time(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : Date.now();
}
