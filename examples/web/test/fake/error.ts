import type { ErrorCode, Suggestion } from "../../../../bindings/wasm/npm/dist/index.js";

export class GemwireError extends Error {
  readonly advice?: string;
  readonly suggestion?: Suggestion;

  constructor(
    readonly code: ErrorCode,
    message: string,
    { advice, suggestion }: { advice?: string; suggestion?: Suggestion } = {},
  ) {
    super(message);
    if (advice !== undefined) this.advice = advice;
    if (suggestion !== undefined) this.suggestion = suggestion;
  }
}
