import { GemwireError, type ChatEvent, type ChatOptions, type Message } from "gemwire";
import { ask, errorIn, failed, hostOf, type Server } from "./server";
import { eventData } from "./eventStream";
import { wireForm } from "./wireForm";
import { wireMessages } from "./wireMessages";

interface Delta {
  content?: string | null;
  reasoning_content?: string | null;
  reasoning?: string | null;
  tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[];
}

interface Chunk {
  choices?: { delta?: Delta; finish_reason?: string | null }[];
  usage?: {
    prompt_tokens?: number;
    completion_tokens?: number;
    prompt_tokens_details?: { cached_tokens?: number };
  } | null;
}

/** serverAnswer is Model.chat by a server with OpenAI's API; where the context is full, the oldest turns go. */
export async function* serverAnswer(
  server: Server,
  prompt: readonly Message[],
  options: ChatOptions & { signal: AbortSignal },
): AsyncGenerator<ChatEvent, void, undefined> {
  let told = [...prompt];
  for (;;) {
    try {
      const response = await ask(server, "chat/completions", {
        signal: options.signal,
        body: await requestOf(server.model, told, options),
      });
      if (told.length < prompt.length)
        yield { type: "forgotten", messages: prompt.length - told.length, known: told.length };
      yield* eventsOf(response, hostOf(server.url));
      return;
    } catch (error) {
      const shorter = options.forget === false ? null : withoutOldest(told);
      if (!(error instanceof GemwireError) || error.code !== "context-full" || !shorter) throw error;
      told = shorter;
    }
  }
}

/** withoutOldest leaves out the oldest turn, or is null where only the system text and the last question are left. */
export function withoutOldest(prompt: readonly Message[]): Message[] | null {
  const first = prompt.findIndex(({ role }) => role !== "system");
  const next = prompt.findIndex(({ role }, i) => i > first && role === "user");
  return first < 0 || next < 0 ? null : [...prompt.slice(0, first), ...prompt.slice(next)];
}

/** What its API has a field for. */
async function requestOf(model: string, prompt: readonly Message[], options: ChatOptions): Promise<object> {
  const { temperature, topK, topP, minP, seed, maxTokens, thinking, tools, responseFormat } = options;
  return {
    model,
    messages: await wireMessages(prompt),
    stream: true,
    stream_options: { include_usage: true },
    temperature,
    top_p: topP,
    top_k: topK,
    min_p: minP,
    max_tokens: maxTokens,
    ...(seed === undefined ? {} : { seed }),
    ...(thinking ? { reasoning_effort: "high" } : {}),
    ...(tools ? { tools } : {}),
    ...(responseFormat ? { response_format: wireForm(responseFormat) } : {}),
    // As in the tab: an answer that has a form calls no tools.
    ...(responseFormat && tools ? { tool_choice: "none" } : {}),
  };
}

/** A call as far as it has arrived: its arguments come in pieces. */
interface Growing {
  id: string;
  name: string;
  args: string;
}

async function* eventsOf(response: Response, host: string): AsyncGenerator<ChatEvent, void, undefined> {
  if (!response.body) throw new GemwireError("network", `${host} sent no answer.`);
  const asked = performance.now();
  let first = 0;
  let reason: string | null = null;
  let usage: Chunk["usage"] = null;
  const calls: Growing[] = [];
  for await (const data of eventData(response.body)) {
    if (data === "[DONE]") break;
    const chunk = parsed(data, host);
    usage = chunk.usage ?? usage;
    const choice = chunk.choices?.[0];
    const { delta } = choice ?? {};
    reason = choice?.finish_reason ?? reason;
    const thought = delta?.reasoning_content ?? delta?.reasoning ?? "";
    if (first === 0 && (thought || delta?.content)) first = performance.now();
    if (thought) yield { type: "thinking", text: thought, tokens: [] };
    if (delta?.content) yield { type: "text", text: delta.content, tokens: [] };
    for (const piece of delta?.tool_calls ?? []) grow(calls, piece);
  }
  if (reason === null)
    throw new GemwireError("network", `${host} broke off in the middle of the answer.`, { advice: "Ask again." });
  for (const call of calls) yield finished(call);
  yield {
    type: "done",
    reason: reason === "tool_calls" || reason === "length" ? reason : "stop",
    usage: usageOf(usage, asked, first || performance.now()),
    tokens: [],
  };
}

function parsed(data: string, host: string): Chunk {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw new GemwireError("network", `${host} sent an answer that is not in OpenAI's form.`);
  }
  const { message, code } = errorIn(value);
  const failure = failed(host, message, code);
  if (failure) throw failure;
  return value as Chunk;
}

const mostCalls = 128;

function grow(calls: Growing[], { index = 0, id, function: called }: NonNullable<Delta["tool_calls"]>[number]): void {
  if (!(index >= 0 && index < mostCalls))
    throw new GemwireError("network", `The server called ${index} tools at once.`);
  const call = (calls[index] ??= { id: "", name: "", args: "" });
  call.id ||= id ?? "";
  call.name ||= called?.name ?? "";
  call.args += called?.arguments ?? "";
}

function finished({ id, name, args }: Growing): ChatEvent {
  try {
    const value = JSON.parse(args || "{}") as Record<string, unknown>;
    return { type: "tool_call", call: { id, name, arguments: value }, tokens: [] };
  } catch (error) {
    return { type: "malformed_call", text: `${name}${args}`, error: String(error), tokens: [] };
  }
}

/** The times are those that the page has seen. */
function usageOf(usage: Chunk["usage"], asked: number, first: number) {
  const answerTokens = usage?.completion_tokens ?? 0;
  const promptTokens = usage?.prompt_tokens ?? 0;
  const decodeMs = performance.now() - first;
  return {
    promptTokens,
    computedTokens: promptTokens - (usage?.prompt_tokens_details?.cached_tokens ?? 0),
    answerTokens,
    prefillMs: first - asked,
    decodeMs,
    tokensPerSecond: answerTokens > 1 && decodeMs > 0 ? (1000 * (answerTokens - 1)) / decodeMs : 0,
  };
}
