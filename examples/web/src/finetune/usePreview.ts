import { TrainingSession, type DataReport, type PreviewExample } from "gemwire";
import { useEffect, useMemo, useState } from "react";
import { useEngine } from "../engine/engineStore";
import { failureOf, isCancelled, type Failure } from "../engine/failure";

export interface Preview {
  report: DataReport;
  examples: PreviewExample[];
}

export type Previewed =
  | { state: "none" }
  | { state: "shown"; preview: Preview; /** It is being made anew. */ stale: boolean }
  | { state: "failed"; failure: Failure };

interface Wanted {
  jsonl: string;
  first: number;
  count: number;
  maxLength: number;
  allTurns: boolean;
}

/** How long nothing has to be typed before the preview is made anew, in milliseconds. */
const quiet = 400;

/** usePreview has the open model read the data, a moment after each change. */
export function usePreview({ jsonl, first, count, maxLength, allTurns }: Wanted): Previewed {
  const engine = useEngine((state) => state.engine);
  const model = engine.state === "ready" ? engine.model : null;
  const [made, setMade] = useState<{ of: object | null; previewed: Previewed }>({
    of: null,
    previewed: { state: "none" },
  });
  const empty = jsonl.trim() === "";
  const of = useMemo(
    () => ({ model, data: jsonl, options: { first, count, maxLength, allTurns } }),
    [model, jsonl, first, count, maxLength, allTurns],
  );

  useEffect(() => {
    if (!of.model || empty) return;
    const { model: reader, data, options } = of;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      TrainingSession.preview(reader, data, { ...options, signal: controller.signal }).then(
        (preview) => setMade({ of, previewed: { state: "shown", preview, stale: false } }),
        (error: unknown) => {
          if (!isCancelled(error)) setMade({ of, previewed: { state: "failed", failure: failureOf(error) } });
        },
      );
    }, quiet);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [empty, of]);

  if (!model || empty) return { state: "none" };
  const { previewed } = made;
  return previewed.state === "shown" ? { ...previewed, stale: made.of !== of } : previewed;
}
