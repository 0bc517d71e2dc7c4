import { store, type PlanResult, type Source, type StorageEstimate } from "gemwire";
import { modelFailureOf, type Failure } from "../engine/failure";
import { planOptions, useSettings } from "../settings/settingsStore";
import { bytes } from "../ui/format";
import { planText } from "./planText";

/** What a look before a copy of a model came to: begin, ask the reader first, or rather not. */
export type Look =
  { verdict: "go" } | { verdict: "ask"; sentences: string[]; bytes: number } | { verdict: "refuse"; failure: Failure };

/** From so many bytes on the reader is asked, even where all is well. */
const large = 1e9;

/** judge weighs what a model takes against what the device and the browser's storage have. */
export function judge(plan: PlanResult, size: number | null, { usage, quota }: StorageEstimate): Look {
  const needed = size ?? plan.plan.weights + plan.plan.rows;
  if (quota > 0 && needed > quota - usage) {
    const failure: Failure = {
      code: "quota",
      sentence: `The model has ${bytes(needed)}, and the browser's storage has room for ${bytes(quota - usage)}.`,
      advice: "Delete a model, or free space on the disk.",
    };
    return { verdict: "refuse", failure };
  }
  if (plan.fits && needed < large) return { verdict: "go" };
  const { verdict, detail } = planText(plan);
  return { verdict: "ask", sentences: [verdict, detail], bytes: needed };
}

/** lookBefore reads a model's header, wherever it is, and asks device and storage whether it fits. */
export async function lookBefore(source: Source, size: number | null, signal: AbortSignal): Promise<Look> {
  try {
    const [plan, estimate] = await Promise.all([
      store.plan(source, { ...planOptions(useSettings.getState()), signal }),
      store.estimate(),
    ]);
    return judge(plan, size, estimate);
  } catch (error) {
    const failure = modelFailureOf(error);
    // Such a server sends the whole file or nothing: there is no header to read beforehand.
    if (failure.code === "no-ranges")
      return { verdict: "ask", sentences: ["Whether it fits shows only once it is here."], bytes: size ?? 0 };
    // Assistants, and the halves that see and hear, are no models by themselves.
    if (failure.code === "unsupported")
      return {
        verdict: "ask",
        sentences: [
          failure.sentence,
          "Keep it if it belongs to a model: as its assistant, or as the half that sees and hears.",
        ],
        bytes: size ?? 0,
      };
    return { verdict: "refuse", failure };
  }
}
