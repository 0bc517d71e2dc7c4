import { useId } from "react";

interface Props<T extends string> {
  label: string;
  choices: readonly { value: T; label: string }[];
  value: T;
  onChange: (value: T) => void;
}

/** One of a few, all of them in sight. */
export function Choices<T extends string>({ label, choices, value, onChange }: Props<T>) {
  const name = useId();
  return (
    <div role="radiogroup" aria-label={label} className="flex flex-wrap gap-2">
      {choices.map((choice) => (
        <label
          key={choice.value}
          className={
            "flex min-h-10 items-center gap-2 rounded-md border px-3 text-sm " +
            (value === choice.value ? "border-accent bg-tint" : "border-line bg-raised")
          }
        >
          <input
            type="radio"
            name={name}
            value={choice.value}
            checked={value === choice.value}
            onChange={() => onChange(choice.value)}
            className="accent-accent"
          />
          {choice.label}
        </label>
      ))}
    </div>
  );
}
