import { pageHref } from "../app/route";
import { useSession } from "../app/session";
import { FailureNotice, RefusedNotice } from "../engine/FailureNotice";
import { useEngine } from "../engine/engineStore";
import { Button } from "../ui/Button";
import { bytes } from "../ui/format";
import { Progress } from "../ui/Progress";

const phases = {
  header: "Reading the header",
  weights: "Loading the weights",
  kernels: "Preparing the kernels",
} as const;

/** What stands between the reader and an answer: loading, or a failure with a way out. */
function LoadState() {
  const { engine, close } = useEngine();
  const support = useSession((state) => state.support);
  if (engine.state === "failed") return <FailureNotice label={engine.label} failure={engine.failure} />;
  if (engine.state === "closed")
    return support ? (
      <p className="pb-2 text-sm text-soft">
        No model is open.{" "}
        <a className="text-accent underline underline-offset-2" href={pageHref.models}>
          Choose one.
        </a>
      </p>
    ) : null;
  if (engine.state !== "loading") return null;
  const { progress } = engine;
  const phase = progress ? phases[progress.phase] : "Starting";
  const sizes =
    progress?.phase === "weights" && progress.total > 0 ? `, ${bytes(progress.done)} of ${bytes(progress.total)}` : "";
  return (
    <div className="px-2 pb-2.5">
      <div className="flex items-center gap-2 pb-1">
        <p className="min-w-0 flex-1 truncate text-sm text-soft tabular-nums">
          {phase} of {engine.label}
          {sizes}…
        </p>
        <Button
          look="plain"
          className="!min-h-8 !px-2 text-sm"
          aria-label={`Cancel loading ${engine.label}`}
          onClick={() => void close()}
        >
          Cancel
        </Button>
      </div>
      <Progress
        label={`Loading ${engine.label}`}
        done={progress?.done ?? 0}
        total={progress?.phase === "weights" ? progress.total : 0}
      />
    </div>
  );
}

/** What the reader should know of the engine. */
export function EngineNotice() {
  return (
    <>
      <RefusedNotice />
      <LoadState />
    </>
  );
}
