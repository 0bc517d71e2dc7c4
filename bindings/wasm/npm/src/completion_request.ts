import { GemwireError } from "./error.js";
import { checkNames, noSuch } from "./names.js";
import { completionNames, type CompletionSampling } from "./settings.gen.js";
import { toForm } from "./response_format.js";
import type { Message, ResponseFormat, Tool, ToolChoice } from "./types.js";

/** A message in OpenAI's form. What a model cannot take is refused. */
export interface CompletionMessage {
  role: Message["role"] | "function";
  content?: string | readonly { type: string }[] | null;
  name?: string;
  tool_calls?: readonly { id?: string; type?: string }[];
  tool_call_id?: string;
}

/**
 * A request of OpenAI's chat completions. What this package cannot do, such as several
 * answers (n), is refused, as is any name that has no meaning.
 */
export interface CompletionRequest extends CompletionSampling {
  messages: readonly (Message | CompletionMessage)[];
  /** Taken for compatibility; the loaded model answers. */
  model?: string;
  stream?: boolean | null;
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  stop?: string | string[] | null;
  /** Report the log-probabilities of the answer's tokens. */
  logprobs?: boolean | null;
  /** And of this many of the most probable tokens in their places; with logprobs. */
  top_logprobs?: number | null;
  tools?: readonly (Tool | { type: string })[];
  /**
   * "none" leaves the tools out; "auto", as if not given, lets the model choose; "required" and one named
   * make it call. Calls fit what the tools declare.
   */
  tool_choice?: "none" | "auto" | "required" | object | null;
  /** False for one call at most. */
  parallel_tool_calls?: boolean | null;
  /** What the answer must look like: json_object, json_schema, or what ResponseFormat has besides. */
  response_format?: ResponseFormat | null;
  stream_options?: { include_usage?: boolean; include_obfuscation?: boolean } | null;
  /** "none" lets the model think less; any other value lets it think. */
  reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
}

/** What a call takes besides its request. */
export interface CompletionExtras {
  /** Ends the answer, or the wait for its turn, with an error of code "cancelled". */
  signal?: AbortSignal | null;
}

const roles = ["system", "developer", "user", "assistant", "tool"] as const satisfies Message["role"][];
const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** What has a meaning here. */
const taken = [
  ...Object.keys(completionNames),
  "messages",
  "model",
  "stream",
  "max_tokens",
  "max_completion_tokens",
  "stop",
  "logprobs",
  "top_logprobs",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "response_format",
  "stream_options",
  "reasoning_effort",
];

/** What OpenAI's API has besides that changes no answer: who asks, what is billed, stored or cached. */
const ofNoEffect = [
  "metadata",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "safety_identifier",
  "service_tier",
  "store",
  "user",
];

/** And what would change one, with the value that asks for nothing. */
const neutral: Record<string, (value: unknown) => boolean> = {
  audio: () => false,
  function_call: () => false,
  functions: () => false,
  modalities: (value) => JSON.stringify(value) === '["text"]',
  moderation: () => false,
  n: (value) => value === 1,
  prediction: () => false,
  verbosity: (value) => value === "medium",
  web_search_options: () => false,
};

const instead: Record<string, string> = {
  function_call: "Use tool_choice.",
  functions: "Use tools.",
  n: "Ask again for each further answer.",
};

const refuse = (code: "bad-argument" | "unsupported", message: string, advice?: string) =>
  new GemwireError(code, message, { advice });

/** checkRequest refuses what would otherwise be ignored. */
export function checkRequest(request: CompletionRequest, extras: CompletionExtras): void {
  if (!Array.isArray(request?.messages)) throw refuse("bad-argument", "a completion needs messages");
  checkNames(request, [...taken, ...ofNoEffect, ...Object.keys(neutral)], "a completion");
  checkNames(extras, ["signal"], "a completion's second argument");
  checkNames(request.stream_options ?? {}, ["include_usage", "include_obfuscation"], "stream_options");
  for (const [name, asksNothing] of Object.entries(neutral)) {
    const value = (request as unknown as Record<string, unknown>)[name];
    if (value !== undefined && value !== null && !asksNothing(value))
      throw refuse("unsupported", `${name}: ${JSON.stringify(value)} cannot be done here`, instead[name]);
  }
  if (request.top_logprobs && !request.logprobs)
    throw refuse("bad-argument", "top_logprobs without logprobs", "Set logprobs to true.");
  toForm(request.response_format);
  toToolChoice(request);
  const effort = request.reasoning_effort;
  if (effort && !efforts.includes(effort)) throw noSuch("reasoning_effort", effort, efforts);
  for (const [i, tool] of (request.tools ?? []).entries())
    if (tool?.type !== "function")
      throw refuse(
        "unsupported",
        `tools[${i}] is of type ${JSON.stringify(tool?.type)}; only "function" can be called`,
      );
  for (const [i, message] of request.messages.entries()) checkMessage(message as CompletionMessage | null, i);
}

/** toToolChoice is OpenAI's tool_choice as ChatOptions have it. */
export function toToolChoice({ tool_choice: choice, tools }: CompletionRequest): ToolChoice | undefined {
  if (choice === null || choice === undefined) return undefined;
  if (typeof choice === "string" && ["auto", "none", "required"].includes(choice)) return choice as ToolChoice;
  const { type, function: called } = choice as { type?: unknown; function?: { name?: unknown } };
  if (type !== "function" || typeof called?.name !== "string")
    throw refuse("unsupported", `tool_choice: ${JSON.stringify(choice)} cannot be done here`);
  const names = (tools ?? []).map((tool) => (tool as Partial<Tool>).function?.name ?? "");
  if (!names.includes(called.name)) throw noSuch("tool_choice", called.name, names);
  return { name: called.name };
}

function checkMessage(message: CompletionMessage | null, i: number): void {
  const role: string | undefined = message?.role;
  if (!(roles as readonly (string | undefined)[]).includes(role)) throw noSuch(`messages[${i}].role`, role, roles);
  for (const call of message?.tool_calls ?? [])
    if (call?.type !== undefined && call.type !== "function")
      throw refuse("unsupported", `messages[${i}] calls a tool of type ${JSON.stringify(call.type)}`);
}
