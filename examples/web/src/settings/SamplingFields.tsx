import type { Sampling } from "../chat/message";
import { Check, NumberField } from "../ui/Field";

interface Props {
  sampling: Sampling;
  onChange: (sampling: Sampling) => void;
}

type NumberKey = "temperature" | "topK" | "topP" | "minP" | "repetitionPenalty" | "maxTokens";

const fields: { key: NumberKey; label: string; help: string; min: number; max: number; step: number }[] = [
  { key: "temperature", label: "Temperature", help: "0: always the most probable token.", min: 0, max: 5, step: 0.05 },
  { key: "topK", label: "Top-k", help: "0: all tokens.", min: 0, max: 1000, step: 1 },
  { key: "topP", label: "Top-p", help: "1: all tokens.", min: 0.01, max: 1, step: 0.01 },
  { key: "minP", label: "Min-p", help: "0: off.", min: 0, max: 1, step: 0.01 },
  { key: "repetitionPenalty", label: "Repetition penalty", help: "1: off.", min: 0.5, max: 2, step: 0.01 },
  { key: "maxTokens", label: "Longest answer", help: "In tokens.", min: 1, max: 131072, step: 1 },
];

export function SamplingFields({ sampling, onChange }: Props) {
  return (
    <div className="space-y-4">
      <div className="grid grid-cols-2 gap-x-4 gap-y-4">
        {fields.map(({ key, ...field }) => (
          <NumberField key={key} {...field} value={sampling[key]} onChange={(value) => { if (value !== null) onChange({ ...sampling, [key]: value }); }} />
        ))}
        <NumberField label="Seed" help="Empty: another each time." value={sampling.seed} min={0} max={4294967295} step={1} placeholder="random" onChange={(seed) => onChange({ ...sampling, seed })} />
      </div>
      <Check label="Let the model think first" help="Slower, and better at hard questions. Shown folded above the answer." checked={sampling.thinking} onChange={(thinking) => onChange({ ...sampling, thinking })} />
    </div>
  );
}
