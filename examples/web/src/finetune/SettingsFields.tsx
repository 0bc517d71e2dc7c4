import { Check, Field, inputLook, NumberField } from "../ui/Field";
import { useTrainingSettings, type Schedule } from "./trainingSettings";

const schedules: { value: Schedule; label: string }[] = [
  { value: "cosine", label: "falls along a cosine" }, { value: "linear", label: "falls along a line" }, { value: "cosine-restarts", label: "falls and starts again" }, { value: "constant", label: "stays" },
];

/** What a run can be told besides its data. */
export function SettingsFields() {
  const settings = useTrainingSettings();
  const { set } = settings;
  return (
    <div className="space-y-4 pt-3">
      <div className="grid grid-cols-2 gap-4 sm:grid-cols-3">
        <NumberField label="Epochs" help="How often it goes through all examples. Empty: as suits their number." value={settings.epochs} min={1} max={1000} step={1} placeholder="as suits" onChange={(epochs) => set({ epochs })} />
        <NumberField label="Learning rate" help="Too large, and it forgets; too small, and it does not learn. Empty: as suits the model." value={settings.learningRate} min={0} max={1} step={0.0001} placeholder="as suits" onChange={(learningRate) => set({ learningRate })} />
        <NumberField label="Rank" help="How much an adapter can hold. 4 to 64 are usual." value={settings.rank} min={1} max={256} step={1} onChange={(rank) => { if (rank !== null) set({ rank }); }} />
        <NumberField label="Held out, in %" help="Kept from training, to judge by. Of fewer than 20 examples, none." value={settings.heldOut} min={0} max={50} step={1} onChange={(heldOut) => { if (heldOut !== null) set({ heldOut }); }} />
        <NumberField label="Patience" help="Looks at what is held out without a gain, after which it stops. Empty: never." value={settings.patience} min={1} max={1000} step={1} placeholder="never" onChange={(patience) => set({ patience })} />
        <NumberField label="Examples at a time" help="More are steadier, and take more memory." value={settings.batchExamples} min={1} max={256} step={1} onChange={(batchExamples) => { if (batchExamples !== null) set({ batchExamples }); }} />
        <NumberField label="Words changed, in %" help="Of a question that it has seen three times, so that others may ask otherwise. 0 where each word counts." value={settings.wordDropout} min={0} max={90} step={5} onChange={(wordDropout) => { if (wordDropout !== null) set({ wordDropout }); }} />
        <NumberField label="Longest example" help="In tokens; longer ones are cut off." value={settings.maxLength} min={16} max={131072} step={16} onChange={(maxLength) => { if (maxLength !== null) set({ maxLength }); }} />
        <NumberField label="Room for training, in MB" help="Beside the model. With less, it takes longer. Empty: all there is." value={settings.memory} min={1} max={1_000_000} step={1} placeholder="all" onChange={(memory) => set({ memory })} />
        <NumberField label="Seed" help="The same seed, the same run." value={settings.seed} min={0} max={4294967295} step={1} onChange={(seed) => { if (seed !== null) set({ seed }); }} />
        <Field label="The rate">
          {(ids) => (
            <select {...ids} className={inputLook} value={settings.schedule} onChange={({ target }) => set({ schedule: schedules.find(({ value }) => value === target.value)?.value ?? "cosine" })}>
              {schedules.map(({ value, label }) => <option key={value} value={value}>{label}</option>)}
            </select>
          )}
        </Field>
      </div>
      <Check label="Learn every answer of a conversation" help="Otherwise the last one." checked={settings.allTurns} onChange={(allTurns) => set({ allTurns })} />
      <Check label="Hold it to what it knows" help="It makes up conversations before the first step, and goes on answering them as it did. That takes longer; without it, what is new drives out what was there." checked={settings.keepWhatItKnows} onChange={(keepWhatItKnows) => set({ keepWhatItKnows })} />
    </div>
  );
}
