import { GemwireError } from "./error.js";
import type { CallParams, ChatParams } from "./protocol.js";
import { toForm } from "./response_format.js";
import { settings } from "./settings.gen.js";
import type { ChatOptions, ToolChoice } from "./types.js";

/** onTheWire is options as JSON can hold them: it has no infinity, and makes null of what is no number. */
export function onTheWire({
  logitBias,
  responseFormat,
  toolChoice,
  parallelToolCalls,
  ...settled
}: Omit<ChatOptions, "signal">): Omit<ChatParams, "session" | "messages"> {
  const form = toForm(responseFormat);
  const calls = toCalls(toolChoice, parallelToolCalls);
  const options = { ...settled, ...(form && { form }), ...(calls && { calls }) };
  for (const name of Object.keys(settings) as (keyof typeof settings)[]) {
    const value = options[name as keyof typeof options];
    if (typeof value === "number" && !Number.isFinite(value)) {
      throw new GemwireError("bad-argument", `${name} is ${value}; wanted a finite number`);
    }
  }
  if (logitBias === undefined) return options;
  const entries = Object.entries(logitBias).map(([token, bias]) => {
    if (Number.isNaN(bias) || bias === Infinity) {
      const wanted = "wanted a number, or -Infinity to forbid it";
      throw new GemwireError("bad-argument", `logitBias of token ${token} is ${bias}; ${wanted}`);
    }
    return [token, bias === -Infinity ? "-Infinity" : bias] as const;
  });
  return { ...options, logitBias: Object.fromEntries(entries) };
}

function toCalls(choice: ToolChoice | undefined, parallel: boolean | undefined): CallParams | undefined {
  if (choice === undefined && parallel !== false) return undefined;
  const single = parallel === false && { single: true };
  if (choice === undefined) return { ...single };
  if (typeof choice === "object" && typeof choice?.name === "string") return { name: choice.name, ...single };
  if (["auto", "none", "required", "free"].includes(choice as string))
    return { choice: choice as NonNullable<CallParams["choice"]>, ...single };
  throw new GemwireError("bad-argument", `toolChoice is ${JSON.stringify(choice)}`, {
    advice: 'Give "auto", "none", "required", "free", or the tool\'s name as { name }.',
  });
}
