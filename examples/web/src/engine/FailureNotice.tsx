import { Button } from "../ui/Button";
import { bytes, count } from "../ui/format";
import { builtin } from "./choice";
import { useEngine } from "./engineStore";
import type { Failure } from "./failure";

/** A failure in a sentence, and what can be done about it. */
export function FailureNotice({ label, failure }: { label: string; failure: Failure }) {
  const { reopen, open } = useEngine();
  const { smaller } = failure;
  const plan = [
    smaller?.context !== undefined && `${count(smaller.context)} tokens of context`,
    smaller?.memoryBudget !== undefined && `at most ${bytes(smaller.memoryBudget)} of GPU memory`,
  ].filter(Boolean).join(" and ");
  return (
    <div role="alert" className="mb-2.5 rounded-lg border border-danger/60 bg-raised p-3 text-sm">
      <p><strong className="font-semibold">{label}</strong> {failure.code === "device-lost" ? "stopped" : "did not load"}. {failure.sentence}</p>
      {failure.advice && <p className="mt-1 text-soft">{failure.advice}</p>}
      <div className="mt-2.5 flex flex-wrap gap-2">
        {smaller && plan && <Button look="solid" onClick={() => void reopen(smaller)}>Load with {plan}</Button>}
        <Button onClick={() => void reopen()}>{failure.code === "device-lost" ? "Reload the model" : "Try again"}</Button>
        {label !== "nano" && <Button look="plain" onClick={() => void open(builtin)}>Use the built-in model</Button>}
      </div>
    </div>
  );
}
