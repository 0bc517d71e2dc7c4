import { settings } from "gemwire";
import type { Sampling } from "../chat/message";

/** The numbers of Sampling; the package has their bounds. */
export type SamplingNumber = Exclude<keyof Sampling, SamplingSwitch>;

type SamplingSwitch = "thinking" | "preserveThinking";
const switches: readonly string[] = ["thinking", "preserveThinking"] satisfies SamplingSwitch[];

/** The package's defaults, with a limit that a phone can bear, and an end to what repeats itself. */
export const recommended: Sampling = {
  temperature: settings.temperature.default,
  topK: settings.topK.default,
  topP: settings.topP.default,
  minP: settings.minP.default,
  repetitionPenalty: settings.repetitionPenalty.default,
  maxTokens: 2048,
  seed: settings.seed.default,
  thinking: false,
  preserveThinking: false,
  thinkingBudget: settings.thinkingBudget.default,
  repetitionGuard: 600,
};

/** boundsOf is what a number may be; whole ones end where JavaScript no longer tells them apart. */
export function boundsOf(name: SamplingNumber): { min: number; max: number } {
  const { min, max, whole } = settings[name];
  return whole
    ? { min: Math.max(min, Number.MIN_SAFE_INTEGER), max: Math.min(max, Number.MAX_SAFE_INTEGER) }
    : { min, max };
}

function isAllowed(name: SamplingNumber, value: unknown): value is number {
  const { min, max } = boundsOf(name);
  const { whole } = settings[name];
  return typeof value === "number" && value >= min && value <= max && (!whole || Number.isInteger(value));
}

/** samplingOf reads what was saved or imported; what is out of bounds is as recommended. */
export function samplingOf(value: unknown): Sampling {
  const known: Partial<Record<keyof Sampling, unknown>> = typeof value === "object" && value !== null ? value : {};
  const sampling: Sampling = {
    ...recommended,
    thinking: known.thinking === true,
    preserveThinking: known.preserveThinking === true,
  };
  for (const name of Object.keys(recommended).filter((name) => !switches.includes(name)) as SamplingNumber[]) {
    if (isAllowed(name, known[name])) sampling[name] = known[name];
  }
  return sampling;
}
