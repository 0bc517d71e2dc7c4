import type { DataReport, TrainingPlan } from "gemwire";
import { useEngine } from "../engine/engineStore";
import { Button } from "../ui/Button";
import { Facts } from "../ui/Facts";
import { bytes, count, duration } from "../ui/format";
import { useRun, type Run } from "./runStore";
import { speeds } from "./speeds";

/** What a run will take, before its first step. */
export function PlanCard({ run: { name, session } }: { run: Extract<Run, { state: "prepared" }> }) {
  const { start, leave } = useRun();
  const engine = useEngine((state) => state.engine);
  const model = engine.state === "ready" ? engine.model.info.name || engine.label : "";
  const { plan, report } = session;
  return (
    <div className="rounded-lg border border-line bg-raised p-4">
      <p className="text-lg font-semibold tracking-tight [overflow-wrap:anywhere]">{name}</p>
      <Facts
        facts={[
          ["Examples", `${count(report.examples)} to train on${heldOutText(report)}`],
          ["Steps", stepsText(plan)],
          ["Adapter", `${count(plan.parameters)} numbers`],
          [
            "Memory",
            plan.bytes > 0
              ? `${bytes(plan.bytes)} at most, in addition to the model`
              : "A batch does not fit on this device. Use fewer examples at a time, or shorter ones.",
          ],
          ["Layers", layersText(plan)],
          ["Time", timeText(plan.steps > 0 ? report.tokens * Math.max(plan.epochs, 1) : 0, speeds.of(model))],
        ]}
      />
      <div className="mt-4 flex flex-wrap gap-2">
        <Button look="solid" className="min-h-11 px-5" autoFocus onClick={() => void start()}>
          Start training
        </Button>
        <Button className="min-h-11" onClick={() => void leave()}>
          Back to the settings
        </Button>
      </div>
    </div>
  );
}

/** How many lines are named. */
const mostNamed = 5;

/** What is held out, by the first of its lines. */
function heldOutText({ heldOut, heldOutLines: lines }: DataReport): string {
  if (heldOut === 0) return "";
  const more = lines.length > mostNamed ? ", …" : "";
  const named = lines.length > 0 ? ` (lines ${lines.slice(0, mostNamed).join(", ")}${more})` : "";
  return `, ${count(heldOut)} held out and not learned${named}`;
}

function stepsText({ steps, epochs, warmup }: TrainingPlan): string {
  const through = epochs > 0 ? `: ${count(epochs)} passes over the examples` : "";
  return `${count(steps)}${through}${warmup > 0 ? `, with a warm-up of ${count(warmup)}` : ""}`;
}

/** Which layers save their activations for the backward pass, and which is computed again. */
function layersText({ layers, saved, recomputed, halves }: TrainingPlan): string {
  const kind = halves ? ", as float16" : "";
  if (recomputed === 0) return `The activations of all ${count(layers)} are kept in memory${kind}`;
  return (
    `The activations of ${count(saved)} are kept in memory${kind}; ${count(recomputed)} of ${count(layers)} are ` +
    "computed again, which is slower"
  );
}

function timeText(tokens: number, tokensPerSecond: number | null): string {
  if (tokensPerSecond === null || tokensPerSecond <= 0) return "Known after the first steps";
  return `About ${duration(tokens / tokensPerSecond)}, based on the last run with this model`;
}
