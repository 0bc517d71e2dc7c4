import { Check, Field, inputLook, NumberField } from "../ui/Field";
import { useTrainingSettings, type Schedule } from "./trainingSettings";

const schedules: { value: Schedule; label: string }[] = [
  { value: "cosine", label: "cosine decay" },
  { value: "linear", label: "linear decay" },
  { value: "cosine-restarts", label: "decay with restarts" },
  { value: "constant", label: "stays" },
];

/** What a run can be told besides its data. */
export function SettingsFields() {
  const settings = useTrainingSettings();
  const { set } = settings;
  return (
    <div className="space-y-4 pt-3">
      <div className="grid grid-cols-2 gap-4 sm:grid-cols-3">
        <NumberField
          label="Epochs"
          help="How often training goes through all examples. Empty: depends on their number."
          value={settings.epochs}
          min={1}
          max={1000}
          step={1}
          placeholder="automatic"
          onChange={(epochs) => set({ epochs })}
        />
        <NumberField
          label="Learning rate"
          help="If it is too high, the model forgets; if it is too low, it does not learn. Empty: depends on the model."
          value={settings.learningRate}
          min={0}
          max={1}
          step={0.0001}
          placeholder="automatic"
          onChange={(learningRate) => set({ learningRate })}
        />
        <NumberField
          label="Rank"
          help="How much an adapter can learn. Usually 4 to 64."
          value={settings.rank}
          min={1}
          max={256}
          step={1}
          onChange={(rank) => {
            if (rank !== null) set({ rank });
          }}
        />
        <NumberField
          label="Held out, in %"
          help="Set aside for evaluation, and not learned. Empty: 5% of 500 examples or more, otherwise none."
          value={settings.heldOut}
          min={0}
          max={50}
          step={1}
          placeholder="automatic"
          onChange={(heldOut) => set({ heldOut })}
        />
        <NumberField
          label="Patience"
          help="Training stops after this many evaluations without improvement. Empty: never."
          value={settings.patience}
          min={1}
          max={1000}
          step={1}
          placeholder="never"
          onChange={(patience) => set({ patience })}
        />
        <NumberField
          label="Examples at a time"
          help="More are steadier, but take more memory and make fewer steps. Empty: depends on their number."
          value={settings.batchExamples}
          min={1}
          max={256}
          step={1}
          placeholder="automatic"
          onChange={(batchExamples) => set({ batchExamples })}
        />
        <NumberField
          label="Words changed, in %"
          help={
            "In questions the model has seen three times, so that other wordings work too. Use 0 if every word " +
            "matters."
          }
          value={settings.wordDropout}
          min={0}
          max={90}
          step={5}
          onChange={(wordDropout) => {
            if (wordDropout !== null) set({ wordDropout });
          }}
        />
        <NumberField
          label="Longest example"
          help="In tokens; longer ones are cut off."
          value={settings.maxLength}
          min={16}
          max={131072}
          step={16}
          onChange={(maxLength) => {
            if (maxLength !== null) set({ maxLength });
          }}
        />
        <NumberField
          label="Memory for training, in MB"
          help="In addition to the model. Less memory takes more time. Empty: no limit."
          value={settings.memory}
          min={1}
          max={1_000_000}
          step={1}
          placeholder="all"
          onChange={(memory) => set({ memory })}
        />
        <NumberField
          label="Seed"
          help="The same seed gives the same run."
          value={settings.seed}
          min={0}
          max={4294967295}
          step={1}
          onChange={(seed) => {
            if (seed !== null) set({ seed });
          }}
        />
        <Field label="The rate">
          {(ids) => (
            <select
              {...ids}
              className={inputLook}
              value={settings.schedule}
              onChange={({ target }) =>
                set({ schedule: schedules.find(({ value }) => value === target.value)?.value ?? "cosine" })
              }
            >
              {schedules.map(({ value, label }) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Check
        label="Learn every answer in a conversation"
        help="Otherwise only the last one."
        checked={settings.allTurns}
        onChange={(allTurns) => set({ allTurns })}
      />
      <Check
        label="Keep what it knows"
        help={
          "The model makes up conversations before the first step, and training keeps its answers to them. This " +
          "takes longer. Without it, new facts replace old ones."
        }
        checked={settings.keepWhatItKnows}
        onChange={(keepWhatItKnows) => set({ keepWhatItKnows })}
      />
    </div>
  );
}
