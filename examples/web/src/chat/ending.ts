import type { ChatMessage } from "./message";

const endings: Partial<Record<ChatMessage["status"], string>> = {
  stopped: "Stopped.",
  length: "The answer reached its token limit, or the end of the context.",
  repetition: "The answer was ended: it said the same over and over again.",
  interrupted: "The page was closed before this answer ended.",
};

const nothing = "The model answered with nothing. Try other words.";

/** Whether the model ended an answer itself, before a word or a call. */
function isNothing({ status, content, calls = [], malformed = [] }: ChatMessage): boolean {
  return status === "done" && content.trim() === "" && calls.length + malformed.length === 0;
}

/** What there is to say of how an answer ended. */
export const endingOf = (message: ChatMessage): string | undefined =>
  isNothing(message) ? nothing : endings[message.status];
