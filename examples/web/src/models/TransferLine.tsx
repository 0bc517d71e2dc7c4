import { FailureText } from "../engine/FailureText";
import { Button, IconButton } from "../ui/Button";
import { bytes, duration } from "../ui/format";
import { Progress } from "../ui/Progress";
import { useStoredModels, type Transfer } from "./storedModels";

function progressText({ state, done, total, speed }: Transfer): string {
  const amount = total > 0 ? `${bytes(done)} of ${bytes(total)}` : bytes(done);
  if (state !== "running") return `${state === "paused" ? "Paused" : "Stopped"} at ${amount}`;
  if (total > 0 && done >= total) return `${amount}, checking…`;
  if (speed <= 0) return amount;
  return `${amount}, ${bytes(speed)}/s${total > 0 ? `, ${duration((total - done) / speed)} left` : ""}`;
}

/** A download or import on its way, which can be paused, gone on with, and given up. */
export function TransferLine({ transfer }: { transfer: Transfer }) {
  const { pause, download, remove } = useStoredModels();
  const { name, url, state, done, total, failure } = transfer;
  return (
    <div className="space-y-1.5">
      <div className="flex items-center gap-1">
        <div className="min-w-0 flex-1">
          <p className="font-medium [overflow-wrap:anywhere]">{name}</p>
          <p className="text-[0.8125rem] text-soft tabular-nums">{progressText(transfer)}</p>
        </div>
        {state === "running" && <IconButton icon="pause" label={`Pause ${name}`} onClick={() => pause(name)} />}
        {state !== "running" && url !== null && (
          <Button icon="play" aria-label={`Resume ${name}`} onClick={() => void download(url, { name })}>
            Resume
          </Button>
        )}
        <IconButton icon="trash" label={`Cancel ${name}`} onClick={() => void remove(name)} />
      </div>
      <Progress label={`Download of ${name}`} done={done} total={total} />
      {failure && (
        <div role="alert" className="text-[0.8125rem] text-danger">
          <FailureText failure={failure} />
        </div>
      )}
    </div>
  );
}
