/**
 * Gemma 4 in the browser, on the user's own GPU.
 *
 * @packageDocumentation
 */
export { adapters } from "./adapters.js";
export type { CompletionExtras, CompletionMessage, CompletionRequest } from "./completion_request.js";
export { CompletionStream } from "./completion_stream.js";
export { Completions, OpenAIChat } from "./completions.js";
export type { Answerer } from "./completions.js";
export type {
  Completion,
  CompletionChunk,
  CompletionLogprobs,
  CompletionTokenLogprob,
  CompletionToolCall,
  CompletionUsage,
  FinishReason,
} from "./completion.js";
export { GemwireError } from "./error.js";
export type { ErrorCode } from "./error.js";
export { Model } from "./model.js";
export type { MemoryResult, PlanResult, Suggestion } from "./protocol.js";
export { Session } from "./session.js";
export { settings } from "./settings.gen.js";
export type { AnswerOptions, CompletionSampling, SamplingOptions } from "./settings.gen.js";
export { downloadToOpfs, store } from "./store.js";
export { support } from "./support.js";
export { TrainingSession } from "./training.js";
export type { TrainingState } from "./training.js";
export type * from "./types.js";
export { version } from "./version.js";
