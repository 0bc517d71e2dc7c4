import type { Failure, FailureCode, Suggestion } from "./protocol.js";

/** What went wrong, for programs. */
export type ErrorCode = FailureCode;

/** Every error of this package: a code for programs, a sentence for people, and what they can do. */
export class GemwireError extends Error {
  readonly code: ErrorCode;
  /** What to do about it, as a sentence for the user. */
  readonly advice?: string;
  /** A smaller plan to load with, where one is known. */
  readonly suggestion?: Suggestion;

  constructor(
    code: ErrorCode,
    message: string,
    more: { advice?: string | undefined; suggestion?: Suggestion | undefined; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "GemwireError";
    this.code = code;
    const advice = more.advice ?? advices[code];
    if (advice !== undefined) this.advice = advice;
    if (more.suggestion !== undefined) this.suggestion = more.suggestion;
  }
}

// Advice for errors that begin in JavaScript; Go's half gives its own.
const advices: Partial<Record<ErrorCode, string>> = {
  network: "Check the connection and try again: a download resumes where it stopped.",
  "no-ranges": "Download the file into the browser's storage first (store.download), and load it from there.",
  changed: "Load or download the file again from the start.",
  quota: "Delete models that are no longer needed, free space on the disk, or choose a smaller model.",
  "not-found": "Check the name or the address.",
};

/** @internal cancelled is the error of whatever an AbortSignal ended. */
export function cancelled(signal?: AbortSignal): GemwireError {
  return new GemwireError("cancelled", "cancelled", { cause: signal?.reason });
}

/** @internal toFailure makes any error fit for a message. */
export function toFailure(error: unknown): Failure {
  if (error instanceof GemwireError) {
    const { code, message, advice, suggestion } = error;
    return { code, message, ...(advice && { advice }), ...(suggestion && { suggestion }) };
  }
  if (error instanceof DOMException) {
    if (error.name === "AbortError") return { code: "cancelled", message: "cancelled" };
    if (error.name === "QuotaExceededError")
      return toFailure(new GemwireError("quota", "the browser's storage is full"));
    if (error.name === "NotFoundError") return toFailure(new GemwireError("not-found", error.message));
    if (error.name === "NoModificationAllowedError") {
      return {
        code: "busy",
        message: "the file is in use, perhaps in another tab",
        advice: "Close what uses it, or the other tab, and try again.",
      };
    }
  }
  return { code: "internal", message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
}

/** @internal fromFailure is toFailure's way back. */
export function fromFailure(failure: Failure): GemwireError {
  return new GemwireError(failure.code, failure.message, failure);
}
