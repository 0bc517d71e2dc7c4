import type { CheckProgress, LoadProgress } from "gemwire";
import { pageHref } from "../app/route";
import { useSession } from "../app/session";
import { FailureNotice, RefusedNotice } from "../engine/FailureNotice";
import { useEngine } from "../engine/engineStore";
import { serverInUse } from "../server/answerFrom";
import { ServerNotice } from "../server/ServerNotice";
import { useSettings } from "../settings/settingsStore";
import { Button } from "../ui/Button";
import { bytes, count } from "../ui/format";
import { Progress } from "../ui/Progress";
import { useChat } from "./chatStore";

const phases = {
  header: "Reading the header",
  check: "Checking the kernels",
  weights: "Loading the weights",
  kernels: "Preparing the kernels",
} as const;

const howFar = ({ phase, done, total }: LoadProgress) => {
  if (total === 0) return "";
  if (phase === "weights") return `, ${bytes(done)} of ${bytes(total)}`;
  return phase === "check" ? `, ${count(done)} of ${count(total)}` : "";
};

/** Kernels that the open model has not taken before, as for its first picture. */
function Examining({ done, total }: CheckProgress) {
  return (
    <div className="px-2 pb-2.5">
      <p className="pb-1 text-sm text-soft tabular-nums">
        Checking this GPU’s kernels, {count(done)} of {count(total)}…
      </p>
      <Progress label="Checking the kernels" done={done} total={total} />
    </div>
  );
}

/** What stands between the reader and an answer: loading, or a failure with a way out. */
function LoadState() {
  const { engine, examining, close } = useEngine();
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
  if (engine.state === "ready" && examining) return <Examining {...examining} />;
  if (engine.state !== "loading") return null;
  const { progress } = engine;
  const phase = progress ? phases[progress.phase] : "Starting";
  return (
    <div className="px-2 pb-2.5">
      <div className="flex items-center gap-2 pb-1">
        <p className="min-w-0 flex-1 truncate text-sm text-soft tabular-nums">
          {phase} of {engine.label}
          {progress ? howFar(progress) : ""}…
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
      <Progress label={`Loading ${engine.label}`} done={progress?.done ?? 0} total={progress?.total ?? 0} />
      {progress?.phase === "check" && (
        <p className="pt-1.5 text-sm text-soft">
          Once for each GPU and browser, gemwire compares what the GPU computes with the processor.
        </p>
      )}
    </div>
  );
}

/** What the reader should know of the engine. */
export function EngineNotice() {
  const remote = useSettings(serverInUse) !== null;
  const busy = useChat((state) => state.run !== null);
  if (remote) return <ServerNotice busy={busy} />;
  return (
    <>
      <RefusedNotice />
      <LoadState />
    </>
  );
}
