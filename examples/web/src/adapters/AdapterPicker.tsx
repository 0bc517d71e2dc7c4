import { useState } from "react";
import { pageHref } from "../app/route";
import { useEngine } from "../engine/engineStore";
import { failureOf } from "../engine/failure";
import { Check, NumberField } from "../ui/Field";
import { useAdapters } from "./adaptersStore";
import { loadKept, type AdapterUse } from "./answering";

interface Props {
  uses: readonly AdapterUse[];
  onChange: (uses: AdapterUse[]) => void;
}

/** Which adapters answer, and how much of each. One that the open model cannot take is refused in a sentence. */
export function AdapterPicker({ uses, onChange }: Props) {
  const adapters = useAdapters((state) => state.adapters);
  const engine = useEngine((state) => state.engine);
  const [refused, setRefused] = useState("");
  const gone = uses.filter(({ name }) => !adapters.some((adapter) => adapter.name === name));

  const toggle = async (name: string, on: boolean) => {
    setRefused("");
    const others = uses.filter((use) => use.name !== name);
    if (!on) {
      onChange(others);
      return;
    }
    try {
      if (engine.state === "ready") await loadKept(engine.model, name);
      onChange([...others, { name, weight: 1 }]);
    } catch (error) {
      const { sentence, advice } = failureOf(error);
      setRefused(`${sentence} ${advice}`);
    }
  };
  const weigh = (name: string, weight: number) =>
    onChange(uses.map((use) => (use.name === name ? { name, weight } : use)));

  if (adapters.length === 0 && gone.length === 0) {
    return (
      <p className="text-[0.8125rem] text-soft">
        None yet.{" "}
        <a href={pageHref.finetune} className="text-accent underline underline-offset-2">
          Train or import one.
        </a>
      </p>
    );
  }
  return (
    <div className="space-y-2">
      {adapters.map(({ name, base }) => {
        const use = uses.find((one) => one.name === name);
        return (
          <div key={name}>
            <Check
              label={name}
              {...(base === null ? {} : { help: `Made for ${base}.` })}
              checked={use !== undefined}
              onChange={(on) => void toggle(name, on)}
            />
            {use && (
              <div className="ml-7 max-w-36">
                <NumberField
                  label="Weight"
                  value={use.weight}
                  min={-4}
                  max={4}
                  step={0.05}
                  onChange={(weight) => {
                    if (weight !== null) weigh(name, weight);
                  }}
                />
              </div>
            )}
          </div>
        );
      })}
      {gone.map(({ name }) => (
        <Check
          key={name}
          label={name}
          help="No longer on this device."
          checked
          onChange={() => void toggle(name, false)}
        />
      ))}
      {refused !== "" && (
        <p role="alert" className="text-[0.8125rem] text-danger">
          {refused}
        </p>
      )}
    </div>
  );
}
