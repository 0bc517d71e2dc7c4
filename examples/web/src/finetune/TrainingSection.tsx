import type { DataReport } from "gemwire";
import { EngineNotice } from "../chat/EngineNotice";
import { useEngine } from "../engine/engineStore";
import { Button } from "../ui/Button";
import { Check, Field, inputLook } from "../ui/Field";
import { Section } from "../ui/Section";
import { useExamples } from "./examplesStore";
import { Ended } from "./Ended";
import { PlanCard } from "./PlanCard";
import { Progressing } from "./Progressing";
import { jsonlOf } from "./rows";
import { useRun } from "./runStore";
import { SavedRuns } from "./SavedRuns";
import { SettingsFields } from "./SettingsFields";
import { trainingOptionsOf, useTrainingSettings } from "./trainingSettings";

/** From settings to a plan, and from the plan to an adapter. */
export function TrainingSection({ report }: { report: DataReport | null }) {
  const { run, announcement } = useRun();
  return (
    <Section title="Training" intro="What the model learns goes into an adapter. The model itself does not change.">
      <EngineNotice />
      {run.state === "none" || run.state === "preparing" || run.state === "failed" ? <Setup report={report} /> : null}
      {run.state === "prepared" && <PlanCard run={run} />}
      {(run.state === "running" || run.state === "pausing" || run.state === "paused" || run.state === "stopping") && (
        <Progressing run={run} />
      )}
      {run.state === "done" && <Ended run={run} />}
      {run.state === "none" && <SavedRuns />}
      <p role="status" className="sr-only" data-testid="training-announcement">
        {announcement}
      </p>
    </Section>
  );
}

/** Why nothing can be trained yet, in a sentence; null where it can. */
function missing(ready: boolean, report: DataReport | null, skipBad: boolean): string | null {
  if (!ready) return "Open a model first.";
  if (!report || report.examples === 0) return "Add at least one example.";
  if (report.bad.length > 0 && !skipBad) return "Fix the lines that cannot be used, or skip them.";
  return null;
}

function Setup({ report }: { report: DataReport | null }) {
  const engine = useEngine((state) => state.engine);
  const { run, prepare } = useRun();
  const rows = useExamples((state) => state.rows);
  const settings = useTrainingSettings();
  const info = engine.state === "ready" ? engine.model.info : null;
  const lacking = missing(info !== null, report, settings.skipBad);
  const bad = report?.bad.length ?? 0;
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (lacking === null) void prepare(jsonlOf(rows), settings.name || "My adapter", trainingOptionsOf(settings));
      }}
    >
      {run.state === "failed" && (
        <div role="alert" className="rounded-lg border border-danger/60 bg-raised p-3 text-sm">
          <p>{run.failure.sentence}</p>
          {run.failure.advice && <p className="mt-1 text-soft">{run.failure.advice}</p>}
        </div>
      )}
      <div className="max-w-sm">
        <Field label="Name of the adapter">
          {(ids) => (
            <input
              {...ids}
              className={inputLook}
              maxLength={60}
              placeholder="My adapter"
              value={settings.name}
              onChange={({ target }) => settings.set({ name: target.value })}
            />
          )}
        </Field>
      </div>
      <details className="rounded-lg border border-line px-3 py-2">
        <summary className="text-sm font-medium">Advanced</summary>
        <SettingsFields />
      </details>
      {bad > 0 && (
        <Check
          label={bad === 1 ? "Skip the line that cannot be used" : `Skip the ${bad} lines that cannot be used`}
          checked={settings.skipBad}
          onChange={(skipBad) => settings.set({ skipBad })}
        />
      )}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Button
          look="solid"
          type="submit"
          className="min-h-11 px-5"
          disabled={lacking !== null || run.state === "preparing"}
        >
          {run.state === "preparing" ? "Planning…" : "Make the plan"}
        </Button>
        <span className="text-sm text-soft">
          {lacking ?? (info ? `For ${info.name || "the open model"}, on ${info.deviceName}.` : "")}
        </span>
      </div>
    </form>
  );
}
