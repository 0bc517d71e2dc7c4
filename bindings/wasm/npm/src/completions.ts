import type {
  Completion,
  CompletionChunk,
  CompletionLogprobs,
  CompletionTokenLogprob,
  CompletionToolCall,
  CompletionUsage,
  FinishReason,
} from "./completion.js";
import { checkRequest, toToolChoice, type CompletionExtras, type CompletionRequest } from "./completion_request.js";
import { CompletionStream } from "./completion_stream.js";
import { GemwireError } from "./error.js";
import { Queue } from "./queue.js";
import { completionNames, type CompletionSampling, type SamplingOptions } from "./settings.gen.js";
import type {
  ChatEvent,
  ChatOptions,
  ChosenToken,
  DoneReason,
  Message,
  TokenLogProb,
  Tool,
  ToolCall,
  Usage,
} from "./types.js";

/** What answers: a Model. */
export interface Answerer {
  readonly info: { readonly name: string };
  chat(messages: Message[], options?: ChatOptions): AsyncIterable<ChatEvent>;
}

/** OpenAI-shaped chat completions over a model, which answers one after the other. */
export class Completions {
  readonly #model: Answerer;

  constructor(model: Answerer) {
    this.#model = model;
  }

  create(request: CompletionRequest & { stream: true }, extras?: CompletionExtras): Promise<CompletionStream>;
  create(request: CompletionRequest & { stream?: false | null }, extras?: CompletionExtras): Promise<Completion>;
  create(request: CompletionRequest, extras?: CompletionExtras): Promise<Completion | CompletionStream>;
  async create(request: CompletionRequest, extras: CompletionExtras = {}): Promise<Completion | CompletionStream> {
    checkRequest(request, extras);
    const signal = extras.signal ?? undefined;
    return request.stream ? this.#stream(request, signal) : this.#whole(request, signal);
  }

  #answer(request: CompletionRequest, signal?: AbortSignal): AsyncIterable<ChatEvent> {
    return this.#model.chat(request.messages as Message[], toOptions(request, signal));
  }

  async #whole(request: CompletionRequest, signal?: AbortSignal): Promise<Completion> {
    let content = "",
      reasoning = "";
    const calls: ToolCall[] = [];
    const tokens: ChosenToken[] = [];
    for await (const event of this.#answer(request, signal)) {
      tokens.push(...tokensOf(event));
      if (event.type === "text" || event.type === "malformed_call") content += event.text;
      else if (event.type === "thinking") reasoning += event.text;
      else if (event.type === "tool_call") calls.push(event.call);
      else if (event.type === "done") {
        return {
          ...head(this.#model),
          object: "chat.completion",
          choices: [
            {
              index: 0,
              finish_reason: finish(event.reason),
              logprobs: toLogprobs(request, tokens),
              message: {
                role: "assistant",
                content: content || (calls.length ? null : ""),
                refusal: null,
                ...(reasoning && { reasoning }),
                ...(calls.length && { tool_calls: calls.map(toCall) }),
              },
            },
          ],
          usage: toUsage(event.usage),
        };
      }
    }
    throw new GemwireError("internal", "the answer has no end");
  }

  // The answer begins at once, also if nobody reads it yet.
  #stream(request: CompletionRequest, signal?: AbortSignal): CompletionStream {
    const controller = new AbortController();
    const either = signal ? AbortSignal.any([signal, controller.signal]) : controller.signal;
    const queue = new Queue<CompletionChunk>();
    const fill = async () => {
      for await (const chunk of this.#chunks(request, either)) queue.push(chunk);
    };
    fill().then(
      () => queue.end(),
      (error) => queue.end(controller.signal.aborted && !signal?.aborted ? undefined : error),
    );
    return new CompletionStream(queue.drain(), controller);
  }

  async *#chunks(request: CompletionRequest, signal: AbortSignal): AsyncGenerator<CompletionChunk, void, undefined> {
    const base = { ...head(this.#model), object: "chat.completion.chunk" as const };
    const wantsUsage = request.stream_options?.include_usage ?? false;
    let tokens: ChosenToken[] | null = null; // of the event that the chunk is made of
    const chunk = (
      delta: CompletionChunk["choices"][0]["delta"],
      reason: FinishReason | null = null,
    ): CompletionChunk => ({
      ...base,
      choices: [{ index: 0, delta, finish_reason: reason, logprobs: tokens && toLogprobs(request, tokens) }],
      ...(wantsUsage && { usage: null }),
    });
    let calls = 0;
    yield chunk({ role: "assistant", content: "" });
    for await (const event of this.#answer(request, signal)) {
      tokens = tokensOf(event);
      if (event.type === "text" || event.type === "malformed_call") yield chunk({ content: event.text });
      else if (event.type === "thinking") yield chunk({ reasoning: event.text });
      else if (event.type === "tool_call") yield chunk({ tool_calls: [{ index: calls++, ...toCall(event.call) }] });
      else if (event.type === "done") {
        yield chunk({}, finish(event.reason));
        if (wantsUsage) yield { ...base, choices: [], usage: toUsage(event.usage) };
      }
    }
  }
}

/** `new OpenAIChat(model).chat.completions.create(…)`, for code written for OpenAI's package. */
export class OpenAIChat {
  readonly chat: { completions: Completions };

  constructor(model: Answerer) {
    this.chat = { completions: new Completions(model) };
  }
}

function toOptions(r: CompletionRequest, signal?: AbortSignal): ChatOptions {
  const options: ChatOptions = {};
  const set = <K extends keyof ChatOptions>(key: K, value: ChatOptions[K] | null | undefined) => {
    if (value !== null && value !== undefined) options[key] = value;
  };
  for (const [name, key] of Object.entries(completionNames) as [keyof CompletionSampling, keyof SamplingOptions][])
    set(key, r[name]);
  if (r.logprobs) set("logProbs", Math.max(r.top_logprobs ?? 0, 1));
  set("maxTokens", r.max_completion_tokens ?? r.max_tokens);
  set("stop", typeof r.stop === "string" ? [r.stop] : r.stop);
  if (r.tool_choice !== "none") {
    set("tools", r.tools as Tool[] | undefined);
    set("toolChoice", toToolChoice(r));
    set("parallelToolCalls", r.parallel_tool_calls);
  }
  if (r.response_format?.type !== "text") set("responseFormat", r.response_format);
  set("thinking", r.reasoning_effort ? r.reasoning_effort !== "none" : undefined);
  set("signal", signal);
  return options;
}

function tokensOf(event: ChatEvent): ChosenToken[] {
  return ("tokens" in event && event.tokens) || [];
}

function toLogprobs({ logprobs, top_logprobs }: CompletionRequest, tokens: ChosenToken[]): CompletionLogprobs | null {
  if (!logprobs) return null;
  const toToken = ({ text, logProb }: TokenLogProb): CompletionTokenLogprob => ({
    token: text,
    logprob: logProb,
    bytes: null,
  });
  return {
    content: tokens.map((token) => ({
      ...toToken(token),
      top_logprobs: token.top.slice(0, top_logprobs ?? 0).map(toToken),
    })),
    refusal: null,
  };
}

function head(model: Answerer): { id: string; created: number; model: string } {
  return { id: `chatcmpl-${crypto.randomUUID()}`, created: Math.floor(Date.now() / 1000), model: model.info.name };
}

function finish(reason: DoneReason): FinishReason {
  if (reason === "repetition") return "length"; // it was cut off, too
  return reason === "length" || reason === "tool_calls" ? reason : "stop";
}

function toCall({ id, name, arguments: args }: ToolCall): CompletionToolCall {
  return {
    id,
    type: "function",
    function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
  };
}

function toUsage(u: Usage): CompletionUsage {
  return {
    prompt_tokens: u.promptTokens,
    completion_tokens: u.answerTokens,
    total_tokens: u.promptTokens + u.answerTokens,
  };
}
