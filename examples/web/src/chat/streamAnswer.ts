import type { ChatEvent } from "gemwire";
import { failureOf, isCancelled, type Failure } from "../engine/failure";
import type { ChatMessage, Status } from "./message";

/** How far the prompt, or before it an attachment, has been read, while nothing has been answered yet. */
export interface Prefill {
  of: "prompt" | "image" | "audio" | "video";
  done: number;
  total: number;
}

export interface Streamed {
  message: ChatMessage;
  prefill: Prefill | null;
}

interface Task {
  /** The model's, in the tab or on a server. */
  events: AsyncIterable<ChatEvent>;
  message: ChatMessage;
  /** Called at most every 40 ms, and once with the last state. */
  onUpdate: (streamed: Streamed) => void;
  now?: () => number;
}

export interface Ended {
  message: ChatMessage;
  failure: Failure | null;
}

const updateEvery = 40;
const statuses = {
  stop: "done",
  stop_string: "done",
  tool_calls: "done",
  length: "length",
  repetition: "repetition",
  cancelled: "stopped",
} as const satisfies Record<string, Status>;

/** streamAnswer fills one answer from the model's events until it ends, whichever way. */
export async function streamAnswer({ events, message, onUpdate, now = () => performance.now() }: Task): Promise<Ended> {
  let current = message;
  let prefill: Prefill | null = null;
  let shown = -Infinity;
  let later: ReturnType<typeof setTimeout> | undefined;
  const showNow = () => {
    clearTimeout(later);
    later = undefined;
    shown = now();
    onUpdate({ message: current, prefill });
  };
  // What comes too soon is shown later, also if nothing else comes: a server may pause.
  const show = () => {
    if (now() - shown >= updateEvery) showNow();
    else later ??= setTimeout(showNow, updateEvery);
  };
  const end = (change: Partial<ChatMessage>, failure: Failure | null = null): Ended => {
    clearTimeout(later);
    current = { ...current, ...change };
    onUpdate({ message: current, prefill: null });
    return { message: current, failure };
  };

  try {
    for await (const event of events) {
      switch (event.type) {
        case "forgotten":
          current = { ...current, forgotten: { messages: event.messages, known: event.known } };
          break;
        case "prefill":
          prefill = { of: "prompt", done: event.done, total: event.total };
          break;
        case "media":
          prefill = { of: event.kind, done: event.done, total: event.total };
          break;
        case "text":
          prefill = null;
          current = { ...current, content: current.content + event.text };
          break;
        case "thinking":
          prefill = null;
          current = { ...current, thinking: (current.thinking ?? "") + event.text };
          break;
        case "tool_call":
          current = { ...current, calls: [...(current.calls ?? []), event.call] };
          if (event.repairs) current = { ...current, mended: [...(current.mended ?? []), ...event.repairs] };
          break;
        case "malformed_call":
          current = { ...current, malformed: [...(current.malformed ?? []), event.text] };
          break;
        case "done":
          return end({ status: statuses[event.reason], usage: event.usage });
      }
      show();
    }
    return end({ status: "interrupted" });
  } catch (thrown) {
    if (isCancelled(thrown)) return end({ status: "stopped" });
    const failure = failureOf(thrown);
    const error = [failure.sentence, failure.advice].filter(Boolean).join(" ");
    return end({ status: "failed", error, failure: failure.code }, failure);
  }
}
