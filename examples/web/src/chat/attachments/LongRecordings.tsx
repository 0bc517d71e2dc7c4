import { Button } from "../../ui/Button";
import type { LongRecording } from "./media";

/** Asks for each recording that the model cannot hear at once whether to take it in pieces. */
export function LongRecordings({
  recordings,
  onSettled,
}: {
  recordings: readonly LongRecording[];
  onSettled: (recording: LongRecording, take: boolean) => void;
}) {
  return recordings.map((recording, index) => (
    <div
      key={index}
      role="alert"
      className="flex flex-wrap items-center gap-x-3 gap-y-1.5 px-2.5 pt-0.5 pb-1.5 text-sm"
    >
      <p className="min-w-0 flex-1 basis-64">
        {recording.message} It can be split at pauses and processed piece by piece.
      </p>
      <span className="flex gap-1">
        <Button onClick={() => onSettled(recording, true)}>Split and attach</Button>
        <Button look="plain" onClick={() => onSettled(recording, false)}>
          Leave it
        </Button>
      </span>
    </div>
  ));
}
