import { useState } from "react";
import { AdapterPicker } from "../adapters/AdapterPicker";
import { ImageBudgetField } from "../settings/ImageBudgetField";
import { SamplingFields } from "../settings/SamplingFields";
import { useSettings } from "../settings/settingsStore";
import { Check, Field, inputLook } from "../ui/Field";
import { count } from "../ui/format";
import { useChat } from "./chatStore";
import { FormFields } from "./form/FormFields";
import { parseOwnTools } from "./tools/ownTools";
import { pageTools } from "./tools/pageTools";

/** What is set for this chat alone: system prompt, sampling, tools. */
export function ChatOptionsPanel() {
  const {
    conversation: { options },
    setOptions,
  } = useChat();
  const settings = useSettings();
  return (
    <div className="space-y-7">
      <Field
        label="System prompt"
        help={
          settings.system
            ? "Leave empty to use the one from the settings."
            : "Tells the model what to know or how to behave, in every answer."
        }
      >
        {(ids) => (
          <textarea
            {...ids}
            rows={4}
            className={inputLook}
            value={options.system}
            placeholder={settings.system}
            onChange={({ target }) => void setOptions({ system: target.value })}
          />
        )}
      </Field>
      <section aria-label="Sampling" className="space-y-4">
        <h3 className="font-semibold">Sampling</h3>
        <Check
          label="As in the settings"
          checked={options.sampling === null}
          onChange={(same) => void setOptions({ sampling: same ? null : settings.sampling })}
        />
        {options.sampling && (
          <SamplingFields sampling={options.sampling} onChange={(sampling) => void setOptions({ sampling })} />
        )}
      </section>
      <ImageBudgetField
        value={options.imageBudget}
        otherwise={`As in the settings (${count(settings.imageBudget)} tokens)`}
        onChange={(imageBudget) => void setOptions({ imageBudget })}
      />
      <FormFields form={options.form} onChange={(form) => void setOptions({ form })} />
      <section aria-label="Adapters" className="space-y-3">
        <h3 className="font-semibold">Adapters</h3>
        <AdapterPicker uses={options.adapters} onChange={(adapters) => void setOptions({ adapters })} />
      </section>
      <section aria-label="Tools" className="space-y-3">
        <h3 className="font-semibold">Tools</h3>
        <p className="text-[0.8125rem] text-soft">Functions the model can call. They run in this page.</p>
        {pageTools.map(({ name, label }) => (
          <Check
            key={name}
            label={label}
            checked={options.tools.includes(name)}
            onChange={(on) =>
              void setOptions({ tools: on ? [...options.tools, name] : options.tools.filter((one) => one !== name) })
            }
          />
        ))}
        <OwnTools text={options.ownTools} onChange={(ownTools) => void setOptions({ ownTools })} />
      </section>
    </div>
  );
}

const example =
  '[{"name": "get_weather", "description": "Get the weather in a city",\n  "parameters": {"type": "object", ' +
  '"properties": {"city": {"type": "string"}}, "required": ["city"]}}]';

function OwnTools({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const [typed, setTyped] = useState(text);
  let error = "";
  try {
    parseOwnTools(typed);
  } catch (failure) {
    error = failure instanceof Error ? failure.message : "This is not JSON.";
  }
  return (
    <Field label="Your own, as JSON" help="In OpenAI's format. When the model calls one, you enter its result.">
      {(ids) => (
        <>
          <textarea
            {...ids}
            rows={5}
            spellCheck={false}
            aria-invalid={error !== ""}
            className={`${inputLook} font-mono text-xs`}
            value={typed}
            placeholder={example}
            onChange={({ target }) => {
              setTyped(target.value);
              onChange(target.value);
            }}
          />
          {error && <span className="block text-[0.8125rem] text-danger">{error}</span>}
        </>
      )}
    </Field>
  );
}
