import type { Device, KVCache } from "gemwire";
import { PageBody } from "../app/PageBody";
import { PageHeader } from "../app/PageHeader";
import { pageHref } from "../app/route";
import { onMac, shortcutsOf } from "../app/shortcuts";
import { useEngine } from "../engine/engineStore";
import { AnswersSection } from "../server/AnswersSection";
import { TransferChats } from "../history/TransferChats";
import { Button } from "../ui/Button";
import { Choices } from "../ui/Choices";
import { Check, Field, inputLook, NumberField } from "../ui/Field";
import { Section } from "../ui/Section";
import { ImageBudgetField } from "./ImageBudgetField";
import { SamplingFields } from "./SamplingFields";
import { recommended } from "./sampling";
import { useSettings, type Theme } from "./settingsStore";
import { WebGpuSection } from "./WebGpuSection";

const themes: { value: Theme; label: string }[] = [
  { value: "system", label: "Same as system" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

const devices: { value: Device; label: string }[] = [
  { value: "auto", label: "Automatic" },
  { value: "gpu", label: "GPU" },
  { value: "cpu", label: "CPU" },
];

const caches: { value: KVCache; label: string }[] = [
  { value: "f16", label: "16 bits" },
  { value: "q8", label: "8 bits" },
];

const gigabyte = 1e9;

export function SettingsPage() {
  const settings = useSettings();
  const reopen = useEngine((state) => state.reopen);
  const { set } = settings;
  return (
    <>
      <PageHeader title="Settings" />
      <PageBody className="space-y-11">
        <WebGpuSection />
        <AnswersSection />
        <Section title="Appearance">
          <Choices label="Theme" choices={themes} value={settings.theme} onChange={(theme) => set({ theme })} />
        </Section>
        <Section title="Answers" intro="For every chat without its own options.">
          <div className="space-y-5">
            <Field label="System prompt">
              {(ids) => (
                <textarea
                  {...ids}
                  rows={3}
                  className={inputLook}
                  value={settings.system}
                  onChange={({ target }) => set({ system: target.value })}
                />
              )}
            </Field>
            <SamplingFields sampling={settings.sampling} onChange={(sampling) => set({ sampling })} />
            <Button onClick={() => set({ sampling: recommended })}>Restore Google's recommendation</Button>
            <Check
              label="Go on when the context is full"
              help="The oldest messages of a chat are then left out of what the model is asked. They stay in the chat."
              checked={settings.forget}
              onChange={(forget) => set({ forget })}
            />
            <ImageBudgetField
              value={settings.imageBudget}
              onChange={(imageBudget) => {
                if (imageBudget !== null) set({ imageBudget });
              }}
            />
          </div>
        </Section>
        <Section
          title="Device"
          intro="Where the model runs, and how much memory it can use. Changes apply when a model is loaded."
        >
          <div className="mb-4 space-y-1.5">
            <Choices label="Run on" choices={devices} value={settings.device} onChange={(device) => set({ device })} />
            <p className="text-[0.8125rem] text-soft">
              Automatic: the GPU. Without WebGPU, small models run on the CPU.
            </p>
          </div>
          <div className="grid gap-4 sm:grid-cols-2">
            <NumberField
              label="Context, in tokens"
              help="Empty: 8,192. More takes more memory."
              value={settings.context}
              min={256}
              max={262144}
              step={256}
              placeholder="8192"
              onChange={(context) => set({ context })}
            />
            <NumberField
              label="GPU memory limit, in GB"
              help="Empty: as much as the device allows."
              value={settings.memoryBudget === null ? null : settings.memoryBudget / gigabyte}
              min={0.05}
              max={512}
              step={0.05}
              placeholder="no limit"
              onChange={(value) => set({ memoryBudget: value === null ? null : Math.round(value * gigabyte) })}
            />
          </div>
          <div className="mt-4 space-y-1.5">
            <p className="text-sm font-medium">Keep the context in</p>
            <Choices
              label="Keep the context in"
              choices={caches}
              value={settings.kvCache}
              onChange={(kvCache) => set({ kvCache })}
            />
            <p className="text-[0.8125rem] text-soft">
              8 bits take about half the memory, so nearly twice the context fits. Where two words are almost equally
              likely, an answer may use the other one.
            </p>
          </div>
          <Button className="mt-4" onClick={() => void reopen()}>
            Load the model again
          </Button>
        </Section>
        <Section title="Writing">
          <Check
            label="Enter sends the message"
            help="Otherwise Enter starts a new line, and Shift + Enter sends."
            checked={settings.enterSends}
            onChange={(enterSends) => set({ enterSends })}
          />
        </Section>
        <Section
          title="Chats"
          intro="They are stored only in this browser. Export them to back them up or to move them."
        >
          <TransferChats />
        </Section>
        <Section title="Keys">
          <dl className="grid max-w-md grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 text-sm">
            {shortcutsOf(onMac(), settings.enterSends).map(({ keys, does }) => (
              <div key={keys} className="contents">
                <dt className="font-mono text-[0.8125rem]">{keys}</dt>
                <dd className="text-soft">{does}</dd>
              </div>
            ))}
          </dl>
        </Section>
        <Section title="About">
          <p className="text-sm">
            <a className="underline underline-offset-2" href={pageHref.licenses}>
              Licenses of gemwire and of what it is made of
            </a>
          </p>
        </Section>
      </PageBody>
    </>
  );
}
