import type { ChatOptions, Message, Part, Tool } from "gemwire";
import { recommended } from "../settings/sampling";
import type { ImageBudget } from "../settings/settingsStore";
import { minutes } from "../ui/format";
import { clipsIn, isClip, type Clip } from "./attachments/clips";
import type { Attachment, ChatMessage, ConversationOptions, Sampling } from "./message";
import { parseOwnTools } from "./tools/ownTools";
import { pageTools } from "./tools/pageTools";

/** What goes with the messages of a branch. */
export interface PromptSettings {
  system: string;
  imageBudget: ImageBudget;
  /** The bytes of attachments, by id. */
  media: ReadonlyMap<string, Blob>;
}

/** promptOf turns a branch into what the model is asked. Answers without a word are left out. */
export function promptOf(path: readonly ChatMessage[], settings: PromptSettings): Message[] {
  const { system } = settings;
  const messages: Message[] = system.trim() === "" ? [] : [{ role: "system", content: system }];
  for (const message of path) {
    const asked = promptMessage(message, settings);
    if (asked) messages.push(asked);
  }
  return messages;
}

function promptMessage(message: ChatMessage, settings: PromptSettings): Message | null {
  switch (message.role) {
    case "user":
      return {
        role: "user",
        content: message.attachments?.length ? partsOf(message, message.attachments, settings) : message.content,
      };
    case "tool":
      return {
        role: "tool",
        content: message.content,
        tool_call_id: message.callId ?? "",
        name: message.toolName ?? "",
      };
    case "assistant": {
      const calls = message.calls ?? [];
      if (message.content === "" && calls.length === 0) return null;
      // Which thoughts the model sees again is up to the template.
      const said = {
        role: "assistant" as const,
        content: message.content,
        ...(message.thinking ? { reasoning: message.thinking } : {}),
      };
      if (calls.length === 0) return said;
      return {
        ...said,
        tool_calls: calls.map(({ id, name, arguments: args }) => ({
          id,
          type: "function",
          function: { name, arguments: JSON.stringify(args) },
        })),
      };
    }
  }
}

/**
 * Attachments come before the text, and a frame's time before the frame, as the model was trained. Those whose bytes
 * are gone are left out.
 */
function partsOf(
  { content }: ChatMessage,
  attachments: readonly Attachment[],
  { media, imageBudget }: PromptSettings,
): Part[] {
  const parts = clipsIn(attachments).flatMap((one): Part[] => {
    if (isClip(one)) return videoOf(one, media);
    const { id, kind, at } = one;
    const blob = media.get(id);
    if (!blob) return [];
    if (kind === "audio") return [{ type: "audio", audio: blob, split: true }];
    const image: Part = { type: "image", image: blob, budget: imageBudget };
    return at === undefined ? [image] : [{ type: "text", text: minutes(at) }, image];
  });
  return content === "" ? parts : [...parts, { type: "text", text: content }];
}

function videoOf({ frames, fps }: Clip, media: ReadonlyMap<string, Blob>): Part[] {
  const there = frames.flatMap(({ id, video }) => {
    const picture = media.get(id);
    return picture && video ? [{ picture, index: video.index }] : [];
  });
  if (there.length === 0) return [];
  const video = { frames: there.map(({ picture }) => picture), indices: there.map(({ index }) => index), fps };
  return [{ type: "video", video }];
}

/**
 * toolsOf lists the declarations that a conversation has switched on. Unreadable ones of the reader's own are left out.
 */
export function toolsOf(options: ConversationOptions): Tool[] {
  const chosen = pageTools.filter(({ name }) => options.tools.includes(name)).map(({ declaration }) => declaration);
  try {
    return [...chosen, ...parseOwnTools(options.ownTools)];
  } catch {
    return chosen;
  }
}

export function chatOptionsOf(sampling: Sampling, tools: Tool[]): ChatOptions {
  const { seed, ...chosen } = { ...recommended, ...sampling };
  return {
    ...chosen,
    ...(seed === null ? {} : { seed }),
    ...(tools.length > 0 ? { tools } : {}),
  };
}
