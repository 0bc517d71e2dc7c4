import type { ChatOptions, Message, Part, Tool } from "gemwire";
import { recommended } from "../settings/settingsStore";
import type { Attachment, ChatMessage, ConversationOptions, Sampling } from "./message";
import { parseOwnTools } from "./tools/ownTools";
import { pageTools } from "./tools/pageTools";

/** promptOf turns a branch into what the model is asked, with the bytes of its attachments. Answers that failed without a word are left out. */
export function promptOf(path: readonly ChatMessage[], system: string, media: ReadonlyMap<string, Blob> = new Map()): Message[] {
  const messages: Message[] = system.trim() === "" ? [] : [{ role: "system", content: system }];
  for (const message of path) {
    const asked = promptMessage(message, media);
    if (asked) messages.push(asked);
  }
  return messages;
}

function promptMessage(message: ChatMessage, media: ReadonlyMap<string, Blob>): Message | null {
  switch (message.role) {
    case "user":
      return { role: "user", content: message.attachments?.length ? partsOf(message, message.attachments, media) : message.content };
    case "tool":
      return { role: "tool", content: message.content, tool_call_id: message.callId ?? "", name: message.toolName ?? "" };
    case "assistant": {
      const calls = message.calls ?? [];
      if (message.content === "" && calls.length === 0) return null;
      if (calls.length === 0) return { role: "assistant", content: message.content };
      return {
        role: "assistant",
        content: message.content,
        tool_calls: calls.map(({ id, name, arguments: args }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(args) } })),
      };
    }
  }
}

/** Attachments come before the text, as the model was trained. Those whose bytes are gone are left out. */
function partsOf({ content }: ChatMessage, attachments: readonly Attachment[], media: ReadonlyMap<string, Blob>): Part[] {
  const parts = attachments.flatMap(({ id, kind }): Part[] => {
    const blob = media.get(id);
    if (!blob) return [];
    return [kind === "image" ? { type: "image", image: blob } : { type: "audio", audio: blob, split: true }];
  });
  return content === "" ? parts : [...parts, { type: "text", text: content }];
}

/** toolsOf lists the declarations that a conversation has switched on. Unreadable ones of the reader's own are left out. */
export function toolsOf(options: ConversationOptions): Tool[] {
  const chosen = pageTools.filter(({ name }) => options.tools.includes(name)).map(({ declaration }) => declaration);
  try {
    return [...chosen, ...parseOwnTools(options.ownTools)];
  } catch {
    return chosen;
  }
}

export function chatOptionsOf(sampling: Sampling, tools: Tool[]): ChatOptions {
  const { temperature, topK, topP, minP, repetitionPenalty, maxTokens, seed, thinking } = { ...recommended, ...sampling };
  return {
    temperature, topK, topP, minP, repetitionPenalty, maxTokens, thinking,
    ...(seed === null ? {} : { seed }),
    ...(tools.length > 0 ? { tools } : {}),
  };
}
