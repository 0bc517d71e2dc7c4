import type { Sampling } from "../chat/message";
import { Check, NumberField } from "../ui/Field";
import { boundsOf, type SamplingNumber } from "./sampling";

interface Props {
  sampling: Sampling;
  onChange: (sampling: Sampling) => void;
}

const fields: { name: Exclude<SamplingNumber, "seed">; label: string; help: string; step: number }[] = [
  { name: "temperature", label: "Temperature", help: "0: always the most likely token.", step: 0.05 },
  { name: "topK", label: "Top-k", help: "0: all tokens.", step: 1 },
  { name: "topP", label: "Top-p", help: "1: all tokens.", step: 0.01 },
  { name: "minP", label: "Min-p", help: "0: off.", step: 0.01 },
  { name: "repetitionPenalty", label: "Repetition penalty", help: "1: off.", step: 0.01 },
  { name: "maxTokens", label: "Longest answer", help: "In tokens. 0: until the context is full.", step: 1 },
  {
    name: "repetitionGuard",
    label: "Repetition guard",
    help: "Ends an answer whose last tokens, this many, repeat one text. 0: off.",
    step: 1,
  },
  { name: "thinkingBudget", label: "Longest thought", help: "In tokens. 0: no bound.", step: 1 },
];

export function SamplingFields({ sampling, onChange }: Props) {
  return (
    <div className="space-y-4">
      <div className="grid grid-cols-2 gap-x-4 gap-y-4">
        {fields.map(({ name, ...field }) => (
          <NumberField
            key={name}
            {...field}
            {...boundsOf(name)}
            value={sampling[name]}
            onChange={(value) => {
              if (value !== null) onChange({ ...sampling, [name]: value });
            }}
          />
        ))}
        <NumberField
          label="Seed"
          help="Empty: different each time."
          value={sampling.seed}
          {...boundsOf("seed")}
          step={1}
          placeholder="random"
          onChange={(seed) => onChange({ ...sampling, seed })}
        />
      </div>
      <Check
        label="Let the model think first"
        help="Slower, but better at hard questions. The thoughts are shown folded above the answer."
        checked={sampling.thinking}
        onChange={(thinking) => onChange({ ...sampling, thinking })}
      />
      <Check
        label="Keep earlier thoughts before tool calls"
        help="The model sees what it thought before the calls of earlier turns. This takes room in the context."
        checked={sampling.preserveThinking}
        onChange={(preserveThinking) => onChange({ ...sampling, preserveThinking })}
      />
    </div>
  );
}
