import type { TrainingPlan } from "gemwire";
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
      <Facts facts={[
        ["Examples", `${count(report.examples)} to train on${report.heldOut > 0 ? `, ${count(report.heldOut)} held out` : ""}`],
        ["Steps", stepsText(plan)],
        ["Adapter", `${count(plan.parameters)} numbers`],
        ["Memory", plan.bytes > 0 ? `${bytes(plan.bytes)} at most, beside the model` : "A batch does not fit this device. Take fewer examples at a time, or shorter ones."],
        ["Layers", layersText(plan)],
        ["Time", timeText(plan.steps > 0 ? (report.tokens * Math.max(plan.epochs, 1)) : 0, speeds.of(model))],
      ]} />
      <div className="mt-4 flex flex-wrap gap-2">
        <Button look="solid" className="min-h-11 px-5" autoFocus onClick={() => void start()}>Start training</Button>
        <Button className="min-h-11" onClick={() => void leave()}>Back to the settings</Button>
      </div>
    </div>
  );
}

function stepsText({ steps, epochs, warmup }: TrainingPlan): string {
  const through = epochs > 0 ? `: ${count(epochs)} times through the examples` : "";
  return `${count(steps)}${through}${warmup > 0 ? `, with a warm-up of ${count(warmup)}` : ""}`;
}

/** What is kept of each layer for the way back, and what is computed again. */
function layersText({ layers, kept, recomputed, halves }: TrainingPlan): string {
  const kind = halves ? ", as float16" : "";
  if (recomputed === 0) return `Of all ${count(layers)}, what the way back needs is kept in memory${kind}`;
  return `Of ${count(kept)}, what the way back needs is kept in memory${kind}; ${count(recomputed)} of ${count(layers)} are computed again, which is slower`;
}

function timeText(tokens: number, tokensPerSecond: number | null): string {
  if (tokensPerSecond === null || tokensPerSecond <= 0) return "The first steps will tell";
  return `About ${duration(tokens / tokensPerSecond)}, going by the last run with this model`;
}
