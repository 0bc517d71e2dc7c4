/**
 * Gemma 4 in the browser, on the user's own GPU.
 *
 * @packageDocumentation
 */
export { adapters } from "./adapters.js";
export { Completions, OpenAIChat } from "./completions.js";
export type { Answerer, Completion, CompletionChunk, CompletionRequest, CompletionToolCall, CompletionUsage, FinishReason } from "./completions.js";
export { GemwireError } from "./error.js";
export type { ErrorCode } from "./error.js";
export { Model } from "./model.js";
export type { MemoryResult, PlanResult, Suggestion } from "./protocol.js";
export { Session } from "./session.js";
export { downloadToOpfs, store } from "./store.js";
export { support } from "./support.js";
export { TrainingSession } from "./training.js";
export type { TrainingState } from "./training.js";
export type * from "./types.js";
export { version } from "./version.js";
