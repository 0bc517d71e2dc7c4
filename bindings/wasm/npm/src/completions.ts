import { GemwireError } from "./error.js";
import type { ChatEvent, ChatOptions, DoneReason, Message, Tool, ToolCall, Usage } from "./types.js";

/** A request of OpenAI's chat completions, as far as it makes sense here. */
export interface CompletionRequest {
  messages: Message[];
  /** Taken for compatibility; the loaded model answers. */
  model?: string;
  stream?: boolean;
  temperature?: number | null;
  top_p?: number | null;
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  stop?: string | string[] | null;
  seed?: number | null;
  presence_penalty?: number | null;
  frequency_penalty?: number | null;
  tools?: Tool[];
  stream_options?: { include_usage?: boolean } | null;
  /** "none" lets the model think less; any other value lets it think. */
  reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | null;
}

export type FinishReason = "stop" | "length" | "tool_calls";

export interface CompletionToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

export interface Completion {
  id: string;
  object: "chat.completion";
  created: number;
  model: string;
  choices: [{
    index: 0;
    message: { role: "assistant"; content: string | null; reasoning?: string; tool_calls?: CompletionToolCall[]; refusal: null };
    finish_reason: FinishReason;
    logprobs: null;
  }];
  usage: CompletionUsage;
}

export interface CompletionChunk {
  id: string;
  object: "chat.completion.chunk";
  created: number;
  model: string;
  choices: {
    index: 0;
    delta: { role?: "assistant"; content?: string; reasoning?: string; tool_calls?: ({ index: number } & CompletionToolCall)[] };
    finish_reason: FinishReason | null;
    logprobs: null;
  }[];
  usage?: CompletionUsage | null;
}

interface RequestExtras { signal?: AbortSignal }

/** What answers: a Model. */
export interface Answerer {
  readonly info: { readonly name: string };
  chat(messages: Message[], options?: ChatOptions): AsyncIterable<ChatEvent>;
}

/** OpenAI-shaped chat completions over a model. */
export class Completions {
  readonly #model: Answerer;

  constructor(model: Answerer) { this.#model = model; }

  create(request: CompletionRequest & { stream: true }, extras?: RequestExtras): Promise<AsyncIterable<CompletionChunk>>;
  create(request: CompletionRequest & { stream?: false }, extras?: RequestExtras): Promise<Completion>;
  create(request: CompletionRequest, extras?: RequestExtras): Promise<Completion | AsyncIterable<CompletionChunk>>;
  async create(request: CompletionRequest, extras: RequestExtras = {}): Promise<Completion | AsyncIterable<CompletionChunk>> {
    if (!Array.isArray(request?.messages)) throw new GemwireError("bad-argument", "a completion needs messages");
    return request.stream ? this.#stream(request, extras) : this.#whole(request, extras);
  }

  async #whole(request: CompletionRequest, extras: RequestExtras): Promise<Completion> {
    let content = "", reasoning = "";
    const calls: ToolCall[] = [];
    for await (const event of this.#model.chat(request.messages, toOptions(request, extras))) {
      if (event.type === "text" || event.type === "malformed_call") content += event.text;
      else if (event.type === "thinking") reasoning += event.text;
      else if (event.type === "tool_call") calls.push(event.call);
      else if (event.type === "done") {
        return {
          ...head(this.#model), object: "chat.completion",
          choices: [{
            index: 0, finish_reason: finish(event.reason), logprobs: null,
            message: {
              role: "assistant", content: content || (calls.length ? null : ""), refusal: null,
              ...(reasoning && { reasoning }), ...(calls.length && { tool_calls: calls.map(toCall) }),
            },
          }],
          usage: toUsage(event.usage),
        };
      }
    }
    throw new GemwireError("internal", "the answer has no end");
  }

  async *#stream(request: CompletionRequest, extras: RequestExtras): AsyncGenerator<CompletionChunk, void, undefined> {
    const base = { ...head(this.#model), object: "chat.completion.chunk" as const };
    const wantsUsage = request.stream_options?.include_usage ?? false;
    const chunk = (delta: CompletionChunk["choices"][0]["delta"], reason: FinishReason | null = null): CompletionChunk => ({
      ...base, choices: [{ index: 0, delta, finish_reason: reason, logprobs: null }], ...(wantsUsage && { usage: null }),
    });
    let calls = 0;
    yield chunk({ role: "assistant", content: "" });
    for await (const event of this.#model.chat(request.messages, toOptions(request, extras))) {
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

  constructor(model: Answerer) { this.chat = { completions: new Completions(model) }; }
}

function toOptions(r: CompletionRequest, { signal }: RequestExtras): ChatOptions {
  const options: ChatOptions = {};
  const set = <K extends keyof ChatOptions>(key: K, value: ChatOptions[K] | null | undefined) => {
    if (value !== null && value !== undefined) options[key] = value;
  };
  set("temperature", r.temperature);
  set("topP", r.top_p);
  set("maxTokens", r.max_completion_tokens ?? r.max_tokens);
  set("stop", typeof r.stop === "string" ? [r.stop] : r.stop);
  set("seed", r.seed);
  set("presencePenalty", r.presence_penalty);
  set("frequencyPenalty", r.frequency_penalty);
  set("tools", r.tools);
  set("thinking", r.reasoning_effort ? r.reasoning_effort !== "none" : undefined);
  set("signal", signal);
  return options;
}

function head(model: Answerer): { id: string; created: number; model: string } {
  return { id: `chatcmpl-${crypto.randomUUID()}`, created: Math.floor(Date.now() / 1000), model: model.info.name };
}

function finish(reason: DoneReason): FinishReason {
  return reason === "length" || reason === "tool_calls" ? reason : "stop";
}

function toCall({ id, name, arguments: args }: ToolCall): CompletionToolCall {
  return { id, type: "function", function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) } };
}

function toUsage(u: Usage): CompletionUsage {
  return { prompt_tokens: u.promptTokens, completion_tokens: u.answerTokens, total_tokens: u.promptTokens + u.answerTokens };
}
