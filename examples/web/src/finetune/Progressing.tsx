import type { RehearsalEvent } from "gemwire";
import { Button } from "../ui/Button";
import { Facts } from "../ui/Facts";
import { bytes, count, duration, tokensPerSecond } from "../ui/format";
import { Progress } from "../ui/Progress";
import { LossPlot } from "./LossPlot";
import { lossLabel } from "./plot";
import { useRun, type Run } from "./runStore";

type Live = Extract<Run, { state: "running" | "pausing" | "paused" | "stopping" }>;

const states: Record<Live["state"], string> = {
  running: "Training",
  pausing: "Pausing after this step",
  paused: "Paused",
  stopping: "Stopping",
};

/** What is done before the first step. */
function begins(rehearsed: RehearsalEvent | null): string {
  if (!rehearsed || rehearsed.done === rehearsed.total) return "the first step takes the longest";
  return `conversation ${count(rehearsed.done + 1)} of ${count(rehearsed.total)} to remember`;
}

/** A run under way. The page can be left meanwhile: it goes on. */
export function Progressing({ run }: { run: Live }) {
  const { pause, resume, stop } = useRun();
  const { name, state, session, last, curve, rehearsed } = run;
  const { steps } = session.plan;
  const step = last?.step ?? session.step;
  const heldOut = curve.heldOut.at(-1);
  return (
    <div className="space-y-4 rounded-lg border border-line bg-raised p-4">
      <div>
        <div className="flex flex-wrap items-baseline justify-between gap-x-4 pb-1.5">
          <p className="text-lg font-semibold tracking-tight [overflow-wrap:anywhere]">{name}</p>
          <p className="text-sm text-soft tabular-nums">
            {states[state]}
            {last ? `, step ${count(step)} of ${count(steps)}` : state === "running" ? `: ${begins(rehearsed)}` : ""}
          </p>
        </div>
        <Progress label={`Training of ${name}`} done={step} total={last || state === "paused" ? steps : 0} />
      </div>
      {last && (
        <div className="grid gap-x-8 sm:grid-cols-2">
          <Facts
            facts={[
              ["Loss", lossLabel(last.loss)],
              ["Held out", heldOut ? lossLabel(heldOut.loss) : "–"],
              ["Epoch", count(last.epoch)],
            ]}
          />
          <Facts
            facts={[
              ["Speed", tokensPerSecond(last.tokensPerSecond)],
              ["Left", state === "paused" ? "–" : duration(last.secondsLeft)],
              ["Memory", bytes(last.memoryBytes)],
            ]}
          />
        </div>
      )}
      {curve.train.length > 0 && <LossPlot curve={curve} steps={steps} />}
      <div className="flex flex-wrap items-center gap-2">
        {state === "paused" || state === "stopping" ? (
          <Button look="solid" icon="play" disabled={state === "stopping"} onClick={resume}>
            Continue
          </Button>
        ) : (
          <Button icon="pause" disabled={state === "pausing"} onClick={() => void pause()}>
            Pause
          </Button>
        )}
        <Button icon="stop" disabled={state === "stopping"} onClick={() => void stop()}>
          Stop and keep the adapter
        </Button>
      </div>
      <p className="text-[0.8125rem] text-soft">
        You can use chats and other pages meanwhile. If you close this window, you can continue the run later.
      </p>
    </div>
  );
}
