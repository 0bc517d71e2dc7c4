// Compiled, never run: what is written for OpenAI's package goes through these calls, and
// what comes back is what it says.
import type OpenAI from "openai";
import type { Completion, CompletionChunk } from "../src/completion.js";
import type { CompletionStream } from "../src/completion_stream.js";
import { Completions, OpenAIChat, type Answerer } from "../src/completions.js";

type Create = OpenAI.Chat.ChatCompletionCreateParams;
declare const model: Answerer;
declare const either: Create;
declare const whole: OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;
declare const streamed: OpenAI.Chat.ChatCompletionCreateParamsStreaming;
declare const messages: OpenAI.Chat.ChatCompletionMessageParam[];
declare const options: OpenAI.RequestOptions;

const completions = new Completions(model);
export const answers: [
  Promise<Completion | CompletionStream>,
  Promise<OpenAI.Chat.ChatCompletion>,
  Promise<AsyncIterable<OpenAI.Chat.ChatCompletionChunk>>,
  Promise<OpenAI.Chat.ChatCompletion>,
  Promise<Completion>,
] = [
  completions.create(either),
  completions.create(whole),
  completions.create(streamed),
  new OpenAIChat(model).chat.completions.create({ model: "any", messages }, { signal: options.signal ?? null }),
  completions.create({ messages: [{ role: "user", content: "Hi" }], top_k: 1 }),
];

// What is read of a stream of OpenAI's package is there.
type Stream = Pick<
  ReturnType<typeof completions.create> extends Promise<infer S> ? Extract<S, CompletionStream> : never,
  "controller" | "tee" | "toReadableStream" | typeof Symbol.asyncIterator
>;
export const chunkOf = (stream: Stream): AsyncIterator<CompletionChunk> => stream[Symbol.asyncIterator]();
