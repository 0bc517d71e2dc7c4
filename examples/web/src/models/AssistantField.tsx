import { setAssistant } from "../engine/assistants";
import { nameOf } from "../engine/choice";
import { useEngine } from "../engine/engineStore";
import { useSettings } from "../settings/settingsStore";
import { Field, inputLook } from "../ui/Field";
import { useStoredModels } from "./storedModels";

/** Which of the stored files guesses ahead for the open model; nothing where none could. */
export function AssistantField({ model }: { model: string }) {
  const reopen = useEngine((state) => state.reopen);
  // To open this model again would call off the one that comes in its place.
  const leaving = useEngine((state) => state.checking !== null);
  const stored = useStoredModels((state) => state.models);
  const chosen = useSettings((state) => state.assistants[model]);
  const files = stored
    .filter(({ name, complete }) => complete && nameOf({ kind: "stored", name }) !== model)
    .map(({ name }) => name);
  if (files.length === 0 && chosen === undefined) return null;
  return (
    <div className="mt-3 max-w-md">
      <Field
        label="Assistant"
        help={
          "A small model that guesses this model's next words. Answers stay the same, and come faster when the " +
          "guesses are right."
        }
      >
        {(ids) => (
          <select
            {...ids}
            className={inputLook}
            disabled={leaving}
            value={chosen ?? ""}
            onChange={({ target }) => {
              setAssistant(model, target.value || null);
              void reopen();
            }}
          >
            <option value="">None</option>
            {files.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </Field>
    </div>
  );
}
