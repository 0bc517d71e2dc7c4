import { useId, useState, type ReactNode } from "react";

/** A label over a control, and a line of help under it. */
export function Field({
  label,
  help,
  children,
}: {
  label: string;
  help?: string;
  children: (ids: { id: string; "aria-describedby"?: string }) => ReactNode;
}) {
  const id = useId();
  return (
    <div className="space-y-1">
      <label htmlFor={id} className="block text-sm font-medium">
        {label}
      </label>
      {children(help ? { id, "aria-describedby": `${id}-help` } : { id })}
      {help && (
        <p id={`${id}-help`} className="text-[0.8125rem] text-soft">
          {help}
        </p>
      )}
    </div>
  );
}

export const inputLook =
  "w-full min-h-10 rounded-md border border-edge bg-paper px-3 py-2 text-ink placeholder:text-soft";

interface NumberProps {
  label: string;
  help?: string;
  value: number | null;
  min: number;
  max: number;
  step: number;
  placeholder?: string;
  onChange: (value: number | null) => void;
}

/** A number in its bounds; empty means null, and a caller that takes no null keeps what it has. */
export function NumberField({ label, help, value, min, max, step, placeholder, onChange }: NumberProps) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <Field label={label} {...(help ? { help } : {})}>
      {(ids) => (
        <input
          {...ids}
          type="number"
          inputMode="decimal"
          className={`${inputLook} tabular-nums`}
          value={typed ?? value ?? ""}
          min={min}
          max={max}
          step={step}
          placeholder={placeholder}
          onBlur={() => setTyped(null)}
          onChange={({ target }) => {
            setTyped(target.value);
            const number = target.valueAsNumber;
            onChange(
              Number.isNaN(number) ? null : Math.min(max, Math.max(min, step >= 1 ? Math.round(number) : number)),
            );
          }}
        />
      )}
    </Field>
  );
}

export function Check({
  label,
  help,
  checked,
  onChange,
}: {
  label: string;
  help?: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}) {
  return (
    <label className="flex gap-2.5 py-1">
      <input
        type="checkbox"
        checked={checked}
        onChange={({ target }) => onChange(target.checked)}
        className="mt-0.5 size-4.5 accent-accent"
      />
      <span>
        <span className="block text-sm font-medium">{label}</span>
        {help && <span className="block text-[0.8125rem] text-soft">{help}</span>}
      </span>
    </label>
  );
}
