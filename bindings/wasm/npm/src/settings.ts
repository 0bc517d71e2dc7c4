import { GemwireError } from "./error.js";
import type { ChatParams } from "./protocol.js";
import { settings } from "./settings.gen.js";
import type { ChatOptions } from "./types.js";

/** onTheWire is options as JSON can hold them: it has no infinity, and makes null of what is no number. */
export function onTheWire({
  logitBias,
  ...options
}: Omit<ChatOptions, "signal">): Omit<ChatParams, "session" | "messages"> {
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
