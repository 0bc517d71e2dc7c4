import type { Source } from "gemwire";
import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import type { Failure } from "../engine/failure";
import { FailureText } from "../engine/FailureText";
import { Button } from "../ui/Button";
import { bytes } from "../ui/format";
import { lookBefore } from "./lookBefore";
import { startModel } from "./startModel";
import { useStoredModels } from "./storedModels";
import { TransferLine } from "./TransferLine";

interface Model {
  /** The name that it is kept under, and the one that the reader knows it by. */
  file: string;
  shown: string;
  source: Source;
  /** Bytes, null where nobody has said. */
  size: number | null;
  /** Begins the copy; its progress is shown where it was asked for. */
  begin: (origin: string) => Promise<void>;
}

type Asked =
  | { state: "idle" }
  | { state: "looking" }
  | { state: "asking"; sentences: string[]; bytes: number }
  | { state: "refused"; failure: Failure };

interface Acquire {
  /** Nothing stands in the way of beginning. */
  free: boolean;
  start: () => void;
  /** What the reader should see beside the button. */
  panel: ReactNode;
}

/**
 * Copies a model to this device: looks whether it fits, asks before gigabytes, and shows progress and refusals in
 * place.
 */
export function useAcquire({ file, shown, source, size, begin }: Model): Acquire {
  const origin = useId();
  const { models, transfers, orphan } = useStoredModels();
  const [asked, setAsked] = useState<Asked>({ state: "idle" });
  const looking = useRef<AbortController | null>(null);
  const transfer = transfers.get(file);
  const here = transfer === undefined && models.some(({ name, complete }) => complete && name === file);
  useEffect(
    () => () => {
      looking.current?.abort();
      orphan(origin);
    },
    [origin, orphan],
  );

  const stopLooking = () => {
    looking.current?.abort();
    setAsked({ state: "idle" });
  };
  const go = () => {
    setAsked({ state: "idle" });
    void begin(origin);
  };
  const look = async () => {
    const controller = new AbortController();
    looking.current?.abort();
    looking.current = controller;
    setAsked({ state: "looking" });
    const found = await lookBefore(source, size, controller.signal);
    if (controller.signal.aborted) return;
    if (found.verdict === "go") go();
    else if (found.verdict === "ask") setAsked({ state: "asking", ...found });
    else setAsked({ state: "refused", failure: found.failure });
  };

  return {
    free: !here && transfer?.state !== "running" && asked.state !== "looking",
    start: () => void look(),
    panel:
      transfer && asked.state === "idle" ? (
        transfer.origin === origin && (
          <div className="basis-full">
            <TransferLine transfer={transfer} />
          </div>
        )
      ) : (
        <div aria-live="polite" className="basis-full text-sm empty:hidden">
          {asked.state === "looking" && (
            <p className="flex items-center gap-2 text-soft">
              Looking whether it fits…
              <Button look="plain" onClick={stopLooking} aria-label={`Do not download ${shown}`}>
                Cancel
              </Button>
            </p>
          )}
          {asked.state === "asking" && (
            <Question {...asked} shown={shown} onYes={go} onNo={() => setAsked({ state: "idle" })} />
          )}
          {asked.state === "refused" && (
            <div role="alert" className="text-danger">
              <FailureText failure={asked.failure} />
            </div>
          )}
          {here && asked.state === "idle" && (
            <p className="flex items-center gap-2">
              It is on this device.
              <Button aria-label={`Use ${shown} now`} onClick={() => startModel({ kind: "stored", name: file })}>
                Use
              </Button>
            </p>
          )}
        </div>
      ),
  };
}

function Question({
  sentences,
  bytes: needed,
  shown,
  onYes,
  onNo,
}: {
  sentences: string[];
  bytes: number;
  shown: string;
  onYes: () => void;
  onNo: () => void;
}) {
  const group = useRef<HTMLDivElement>(null);
  const text = useId();
  useEffect(() => group.current?.focus(), []);
  const amount = needed > 0 ? ` ${bytes(needed)}` : "";
  return (
    <div
      ref={group}
      tabIndex={-1}
      role="group"
      aria-label={`Download ${shown}?`}
      aria-describedby={text}
      className="rounded-lg border border-line bg-raised p-3"
    >
      <p id={text}>{sentences.join(" ")}</p>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button look="solid" icon="download" onClick={onYes}>
          Download{amount}
        </Button>
        <Button look="plain" onClick={onNo}>
          Cancel
        </Button>
      </div>
    </div>
  );
}
