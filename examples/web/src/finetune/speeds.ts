import type { StepEvent } from "gemwire";

const key = "gemwire.training-speeds";

const all = (): Record<string, number> => JSON.parse(localStorage.getItem(key) ?? "{}") as Record<string, number>;

/** How fast this device has trained each model: tokens a second, of the last run. */
export const speeds = {
  note: (model: string, { tokensPerSecond }: StepEvent): void =>
    localStorage.setItem(key, JSON.stringify({ ...all(), [model]: tokensPerSecond })),
  of: (model: string): number | null => all()[model] ?? null,
};
