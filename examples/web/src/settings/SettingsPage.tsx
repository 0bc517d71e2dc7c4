import type { Device, KVCache } from "gemwire";
import { PageBody } from "../app/PageBody";
import { PageHeader } from "../app/PageHeader";
import { shortcuts } from "../app/shortcuts";
import { useEngine } from "../engine/engineStore";
import { TransferChats } from "../history/TransferChats";
import { Button } from "../ui/Button";
import { Choices } from "../ui/Choices";
import { Check, Field, inputLook, NumberField } from "../ui/Field";
import { Section } from "../ui/Section";
import { ImageBudgetField } from "./ImageBudgetField";
import { SamplingFields } from "./SamplingFields";
import { recommended, useSettings, type Theme } from "./settingsStore";

const themes: { value: Theme; label: string }[] = [{ value: "system", label: "As the system" }, { value: "light", label: "Light" }, { value: "dark", label: "Dark" }];

const devices: { value: Device; label: string }[] = [{ value: "auto", label: "Automatic" }, { value: "gpu", label: "GPU" }, { value: "cpu", label: "Processor" }];

const caches: { value: KVCache; label: string }[] = [{ value: "f16", label: "16 bits" }, { value: "q8", label: "8 bits" }];

const gigabyte = 1e9;

export function SettingsPage() {
  const settings = useSettings();
  const reopen = useEngine((state) => state.reopen);
  const { set } = settings;
  return (
    <>
      <PageHeader title="Settings" />
      <PageBody className="space-y-11">
        <Section title="Appearance">
          <Choices label="Theme" choices={themes} value={settings.theme} onChange={(theme) => set({ theme })} />
        </Section>
        <Section title="Answers" intro="For every chat that has no options of its own.">
          <div className="space-y-5">
            <Field label="System prompt">{(ids) => <textarea {...ids} rows={3} className={inputLook} value={settings.system} onChange={({ target }) => set({ system: target.value })} />}</Field>
            <SamplingFields sampling={settings.sampling} onChange={(sampling) => set({ sampling })} />
            <Button onClick={() => set({ sampling: recommended })}>Back to Google's recommendation</Button>
            <ImageBudgetField value={settings.imageBudget} onChange={(imageBudget) => { if (imageBudget !== null) set({ imageBudget }); }} />
          </div>
        </Section>
        <Section title="Device" intro="Where the model computes, and how much it may take. Takes effect when a model is loaded.">
          <div className="mb-4 space-y-1.5">
            <Choices label="Compute on" choices={devices} value={settings.device} onChange={(device) => set({ device })} />
            <p className="text-[0.8125rem] text-soft">Automatic: the GPU, or the processor for small models where the browser offers no GPU of its own.</p>
          </div>
          <div className="grid gap-4 sm:grid-cols-2">
            <NumberField label="Context, in tokens" help="Empty: 8,192. More takes more memory." value={settings.context} min={256} max={262144} step={256} placeholder="8192" onChange={(context) => set({ context })} />
            <NumberField label="GPU memory at most, in GB" help="Empty: what the device gives." value={settings.memoryBudget === null ? null : settings.memoryBudget / gigabyte} min={0.05} max={512} step={0.05} placeholder="no limit" onChange={(value) => set({ memoryBudget: value === null ? null : Math.round(value * gigabyte) })} />
          </div>
          <div className="mt-4 space-y-1.5">
            <p className="text-sm font-medium">The context is kept in</p>
            <Choices label="The context is kept in" choices={caches} value={settings.kvCache} onChange={(kvCache) => set({ kvCache })} />
            <p className="text-[0.8125rem] text-soft">8 bits take about half of the memory, so that nearly twice the context fits. Where two words are as good as equal, an answer may take the other one.</p>
          </div>
          <Button className="mt-4" onClick={() => void reopen()}>Load the model again</Button>
        </Section>
        <Section title="Writing"><Check label="Enter sends the message" help="Otherwise Enter begins a new line, and Shift + Enter sends." checked={settings.enterSends} onChange={(enterSends) => set({ enterSends })} /></Section>
        <Section title="Chats" intro="They are kept in this browser and nowhere else. Export them to keep them elsewhere or take them along."><TransferChats /></Section>
        <Section title="Keys">
          <dl className="grid max-w-md grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 text-sm">
            {shortcuts.map(({ keys, does }) => <div key={keys} className="contents"><dt className="font-mono text-[0.8125rem]">{keys}</dt><dd className="text-soft">{does}</dd></div>)}
          </dl>
        </Section>
      </PageBody>
    </>
  );
}
