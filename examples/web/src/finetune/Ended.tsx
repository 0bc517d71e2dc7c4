import { zipped } from "../adapters/archive";
import { useChat } from "../chat/chatStore";
import { Button } from "../ui/Button";
import { counted, duration } from "../ui/format";
import { saveFile } from "../ui/saveFile";
import { LossPlot } from "./LossPlot";
import { lossLabel } from "./plot";
import { useRun, type Run } from "./runStore";

type Done = Extract<Run, { state: "done" }>;

const endings = {
  finished: "Finished",
  "early-stop": "Stopped early, because it no longer improved",
  stopped: "Stopped",
} as const;

/** A run that has ended, and what to do with what it has learned. */
export function Ended({ run }: { run: Done }) {
  const { leave } = useRun();
  const begin = useChat((state) => state.begin);
  const { name, result, unkept, curve, last } = run;
  return (
    <div className="space-y-4 rounded-lg border border-line bg-raised p-4">
      <div>
        <p className="text-lg font-semibold tracking-tight [overflow-wrap:anywhere]">{name}</p>
        <p className="text-sm text-soft tabular-nums">
          {endings[result.reason]}: {counted(result.steps, "step")} in {duration(result.seconds)}
          {result.loss === undefined ? "" : `, loss ${lossLabel(result.loss)}`}
          {result.bestHeldOutLoss === undefined ? "" : `, held out ${lossLabel(result.bestHeldOutLoss)}`}.
          {result.usesBest ? " This is the best adapter of the run, not the last." : ""}
        </p>
      </div>
      {curve.train.length > 0 && <LossPlot curve={curve} steps={last?.steps ?? result.steps} />}
      {unkept && <Unkept unkept={unkept} name={name} />}
      <div className="flex flex-wrap gap-2">
        {!unkept && (
          <Button look="solid" onClick={() => begin({ adapters: [{ name, weight: 1 }] })}>
            Chat with it
          </Button>
        )}
        <Button onClick={() => void leave()}>Train another</Button>
      </div>
    </div>
  );
}

/** The storage is full, or not there: what was learned can be taken elsewhere. */
function Unkept({ unkept: { failure, session }, name }: { unkept: NonNullable<Done["unkept"]>; name: string }) {
  const keep = useRun((state) => state.keep);
  const download = async () => saveFile(await zipped(await session.export({ format: "peft" }), name));
  return (
    <div role="alert" className="rounded-lg border border-danger/60 p-3 text-sm">
      <p>The adapter is not saved yet. {failure.sentence}</p>
      {failure.advice && <p className="mt-1 text-soft">{failure.advice}</p>}
      <div className="mt-2.5 flex flex-wrap gap-2">
        <Button look="solid" onClick={() => void keep()}>
          Try again
        </Button>
        <Button icon="download" onClick={() => void download()}>
          Download it
        </Button>
      </div>
    </div>
  );
}
