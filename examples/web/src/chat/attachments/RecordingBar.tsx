import { IconButton } from "../../ui/Button";
import { clock } from "../../ui/format";
import { longest, type useRecorder } from "./useRecorder";

/** The meter looks like a row of lamps, however wide it is. */
const lamps = { maskImage: "repeating-linear-gradient(to right, #000 0 3px, transparent 3px 6px)" };

/** What stands in the place of the message while the microphone is on. */
export function RecordingBar({
  level,
  seconds,
  end,
}: Pick<ReturnType<typeof useRecorder>, "level" | "seconds" | "end">) {
  return (
    <div
      role="group"
      aria-label="Recording"
      onKeyDown={(event) => {
        if (event.key === "Escape") end(false);
      }}
      className="flex min-h-10 min-w-0 flex-1 items-center gap-2.5 pl-2.5"
    >
      <span aria-hidden="true" className="size-2.5 shrink-0 rotate-45 animate-pulse bg-wire" />
      <span role="timer" aria-label="Recorded" className="shrink-0 text-sm tabular-nums">
        {clock(seconds)}
        <span className="text-soft"> / {clock(longest)}</span>
      </span>
      <span
        role="meter"
        aria-label="Level"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(level * 100)}
        className="relative h-3.5 min-w-0 flex-1 bg-line"
        style={lamps}
      >
        <span className="absolute inset-y-0 left-0 bg-wire" style={{ width: `${level * 100}%` }} />
      </span>
      <IconButton icon="trash" label="Discard the recording" onClick={() => end(false)} />
      <button
        type="button"
        autoFocus
        aria-label="Keep the recording"
        title="Keep the recording"
        onClick={() => end(true)}
        className={
          "inline-flex size-10 shrink-0 items-center justify-center rounded-lg border-[1.5px] border-wire " +
          "text-wire hover:bg-sunk"
        }
      >
        <svg viewBox="0 0 20 20" className="size-5 fill-current" aria-hidden="true">
          <path d="M6 6h8v8H6z" />
        </svg>
      </button>
    </div>
  );
}
