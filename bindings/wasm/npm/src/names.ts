// What a caller gives by name. A name that has no meaning is refused: ignored, it would change an answer without a
// word.
import { closest } from "./closest.js";
import { GemwireError } from "./error.js";
import { settings } from "./settings.gen.js";
import type { ChatOptions, LoadOptions, Message } from "./types.js";

type Named<T> = Record<keyof T, true>;

const beside: Named<Omit<ChatOptions, keyof typeof settings>> = {
  thinking: true,
  preserveThinking: true,
  forget: true,
  tools: true,
  toolChoice: true,
  parallelToolCalls: true,
  responseFormat: true,
  signal: true,
  logitBias: true,
  stop: true,
  drySequenceBreakers: true,
};
const chatNames = [...Object.keys(settings), ...Object.keys(beside)];

const load: Named<LoadOptions> = {
  worker: true,
  device: true,
  context: true,
  memoryBudget: true,
  kvCache: true,
  mmproj: true,
  assistant: true,
  powerPreference: true,
  signal: true,
  onProgress: true,
  checkKernels: true,
  onCheck: true,
  onLeftOut: true,
  request: true,
};

const wrong = (message: string, advice?: string) => new GemwireError("bad-argument", message, { advice });

/** checkNames refuses options that have no meaning. */
export function checkNames(given: object, names: readonly string[], where: string): void {
  for (const name of Object.keys(given))
    if (!names.includes(name)) {
      const meant = closest(name, names);
      throw wrong(`${where} has no ${name}`, meant ? `Did you mean ${meant}?` : undefined);
    }
}

/** checkChat refuses options of an answer that have no meaning. */
export function checkChat(options: ChatOptions): void {
  checkOptions(options, chatNames, "chat");
  for (const name of ["tools", "stop"] as const) {
    const list: unknown = options[name];
    if (list !== undefined && !Array.isArray(list)) throw wrong(`${name} is ${show(list)}; wanted a list`);
  }
}

/** checkLoad refuses options of a model that have no meaning. */
export function checkLoad(options: LoadOptions): void {
  checkOptions(options, Object.keys(load), "load");
  const { memoryBudget, device, kvCache } = options;
  checkOne("device", device, ["auto", "gpu", "cpu"]);
  checkOne("kvCache", kvCache, ["f16", "q8"]);
  if (memoryBudget !== undefined && !(typeof memoryBudget === "number" && memoryBudget >= 1))
    throw wrong(`memoryBudget is ${show(memoryBudget)}; wanted a number of bytes`);
}

function checkOne(name: string, value: unknown, known: readonly string[]): void {
  if (value !== undefined && !known.includes(value as string)) throw noSuch(name, value, known, show(value));
}

/** noSuch is the error of a value that is none of those that there are. */
export function noSuch(
  what: string,
  value: unknown,
  known: readonly string[],
  shown = JSON.stringify(value),
): GemwireError {
  const meant = typeof value === "string" ? closest(value, known) : null;
  return wrong(`${what} is ${shown}; there are ${known.join(", ")}`, meant ? `Did you mean ${meant}?` : undefined);
}

function checkOptions(options: { signal?: AbortSignal }, names: readonly string[], where: string): void {
  if (typeof options !== "object" || options === null)
    throw wrong(`the options of ${where} are ${show(options)}; wanted an object`);
  checkNames(options, names, where);
  const { signal } = options;
  if (signal !== undefined && typeof (signal as Partial<AbortSignal> | null)?.aborted !== "boolean")
    throw wrong(`signal is ${show(signal)}; wanted the signal of an AbortController`);
}

/**
 * copied is a conversation as it is now: what the caller changes while an answer waits for its turn is not in it. A
 * message that says nothing is refused.
 */
export function copied(messages: Message[]): Message[] {
  if (!Array.isArray(messages)) throw wrong(`messages are ${show(messages)}; wanted a list`);
  return messages.map((message: Message, i) => {
    if (typeof message !== "object" || message === null)
      throw wrong(`messages[${i}] is ${show(message)}; wanted an object with a role and a content`);
    checkContent(message, `messages[${i}].content`);
    return { ...message };
  });
}

function checkContent({ role, content }: Message, where: string): void {
  if (
    typeof content === "string" ||
    ((content === undefined || content === null) && !["user", "system"].includes(role))
  )
    return;
  if (!Array.isArray(content)) {
    if (role !== "user" && role !== "system") return; // a tool's result may be any value
    throw wrong(`${where} is ${show(content)}; wanted a text or a list of parts`);
  }
  for (const [i, part] of content.entries())
    if (part?.type === "text" && typeof part.text !== "string")
      throw wrong(`${where}[${i}].text is ${show(part.text)}; wanted a text`);
}

const show = (value: unknown) => (typeof value === "object" ? JSON.stringify(value) : String(value)).slice(0, 40);
