import {
  emptyOptions,
  type ChatMessage,
  type Conversation,
  type ConversationOptions,
  type Role,
  type Status,
} from "../chat/message";

export type Row = Record<string, unknown>;

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);
const number = (value: unknown): number => Number(value ?? 0);

export function conversationFrom(row: Row): Conversation {
  return {
    id: text(row.id),
    title: text(row.title),
    named: number(row.named) !== 0,
    options: { ...emptyOptions(), ...(JSON.parse(text(row.options)) as Partial<ConversationOptions>) },
    leafId: textOrNull(row.leaf_id),
    createdAt: number(row.created_at),
    updatedAt: number(row.updated_at),
  };
}

type Extra = Omit<ChatMessage, "id" | "conversationId" | "parentId" | "role" | "content" | "status" | "createdAt">;

export function messageFrom(row: Row): ChatMessage {
  const status = text(row.status) as Status;
  return {
    ...(JSON.parse(text(row.extra)) as Extra),
    id: text(row.id),
    conversationId: text(row.conversation_id),
    parentId: textOrNull(row.parent_id),
    role: text(row.role) as Role,
    content: text(row.content),
    status: status === "streaming" ? "interrupted" : status,
    createdAt: number(row.created_at),
  };
}

export function extraOf(message: ChatMessage): string {
  const columns = new Set(["id", "conversationId", "parentId", "role", "content", "status", "createdAt"]);
  return JSON.stringify(Object.fromEntries(Object.entries(message).filter(([key]) => !columns.has(key))));
}
