import type { Plan, PlanResult } from "gemwire";
import { bytes, count } from "../ui/format";

/** What a plan says, in the words of somebody who wants to know whether it fits. */
export function planText({ fits, plan, suggestion }: PlanResult): { verdict: string; detail: string } {
  const verdict = fits
    ? "Fits on this device."
    : suggestion
      ? `Fits on this device with ${suggestionText(suggestion)}.`
      : "Too large for this device.";
  return { verdict, detail: memoryText(plan) };
}

export function memoryText(plan: Plan): string {
  const onGpu = bytes(
    plan.weights +
      plan.cache +
      (plan.checkpoints ?? 0) +
      plan.activations +
      (plan.drafts ?? 0) +
      (plan.assistant ?? 0) +
      (plan.adapters ?? 0),
  );
  const fromFile = plan.rows > 0 ? `; ${bytes(plan.rows)} of tables stay in the file and are read by row` : "";
  return (
    `${onGpu} of GPU memory for ${count(plan.context)} tokens of ` +
    `context${plan.kvCache === "q8" ? " in 8 bits" : ""}${fromFile}.`
  );
}

export function suggestionText({ context, memoryBudget }: NonNullable<PlanResult["suggestion"]>): string {
  return [
    context !== undefined && `${count(context)} tokens of context`,
    memoryBudget !== undefined && `at most ${bytes(memoryBudget)} of GPU memory`,
  ]
    .filter(Boolean)
    .join(" and ");
}
