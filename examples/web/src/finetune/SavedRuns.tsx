import { useEngine } from "../engine/engineStore";
import { Button, IconButton } from "../ui/Button";
import { count, counted, when } from "../ui/format";
import { useRun } from "./runStore";

/** Runs that a reload, a crash or another model interrupted. */
export function SavedRuns() {
  const { saved, goOn, giveUp } = useRun();
  const engine = useEngine((state) => state.engine);
  if (saved.length === 0) return null;
  const open = engine.state === "ready" ? engine.model.info.name || engine.label : null;
  return (
    <section aria-label="Interrupted runs" className="mt-6">
      <h3 className="pb-1 text-sm font-semibold">Interrupted</h3>
      <ul className="divide-y divide-line border-y border-line">
        {saved.map(({ name, model, step, steps, modified }) => (
          <li key={name} className="flex flex-wrap items-center gap-x-4 gap-y-1 py-3">
            <div className="min-w-0 flex-1 basis-60">
              <p className="font-medium [overflow-wrap:anywhere]">{name}</p>
              <p className="text-[0.8125rem] text-soft tabular-nums">
                Step {count(step)} of {count(steps)}, with {model} · {when(modified)}
              </p>
              {open !== null && open !== model && (
                <p className="text-[0.8125rem] text-wire">Open {model} to continue it.</p>
              )}
            </div>
            <Button
              icon="play"
              disabled={open !== model}
              aria-label={`Continue ${name}`}
              onClick={() => void goOn(name)}
            >
              Continue
            </Button>
            <IconButton
              icon="trash"
              label={`Delete ${name}`}
              onClick={() => {
                if (confirm(`Delete ${name} and what it learned in ${counted(step, "step")}?`)) void giveUp(name);
              }}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}
