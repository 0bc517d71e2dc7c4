import { Button } from "../ui/Button";
import { bytes, count } from "../ui/format";
import { builtin } from "./choice";
import { useEngine } from "./engineStore";
import type { Failure } from "./failure";
import { FailureText } from "./FailureText";

interface Props {
  label: string;
  failure: Failure;
  /** The model that goes on; without one, none is open. */
  kept?: string;
}

/** A failure in a sentence, and what can be done about it. */
export function FailureNotice({ label, failure, kept }: Props) {
  const { retry, reopen, open, dismiss } = useEngine();
  const { smaller } = failure;
  const lost = failure.code === "device-lost";
  const plan = [
    smaller?.context !== undefined && `${count(smaller.context)} tokens of context`,
    smaller?.memoryBudget !== undefined && `at most ${bytes(smaller.memoryBudget)} of GPU memory`,
  ]
    .filter(Boolean)
    .join(" and ");
  return (
    <div role="alert" className="mb-2.5 rounded-lg border border-danger/60 bg-raised p-3 text-sm">
      <div>
        <strong className="font-semibold">{label}</strong> {lost ? "stopped" : "could not be loaded"}.{" "}
        <FailureText failure={failure} />
      </div>
      {kept !== undefined && <p className="mt-1">{kept} is still open.</p>}
      <div className="mt-2.5 flex flex-wrap gap-2">
        {smaller && plan && (
          <Button look="solid" onClick={() => void retry(smaller)}>
            Load with {plan}
          </Button>
        )}
        <Button onClick={() => void (lost ? reopen() : retry())}>{lost ? "Reload the model" : "Try again"}</Button>
        {kept !== undefined && (
          <Button look="plain" onClick={dismiss}>
            Keep {kept}
          </Button>
        )}
        {kept === undefined && label !== "nano" && (
          <Button look="plain" onClick={() => void open(builtin)}>
            Use the built-in model
          </Button>
        )}
      </div>
    </div>
  );
}

/** What became of the model that the reader chose last, while another one is open. */
export function RefusedNotice() {
  const { refused, checking } = useEngine();
  return (
    <>
      <p role="status" className={checking === null ? "sr-only" : "pb-2 text-sm text-soft"}>
        {checking === null ? "" : `Looking at ${checking}…`}
      </p>
      {refused && <FailureNotice {...refused} />}
    </>
  );
}
