import { Model, type LoadOptions, type Source } from "gemwire";
import { useToasts } from "../app/toasts";
import { useSettings } from "../settings/settingsStore";
import { failureOf, isCancelled } from "./failure";

/** setAssistant has a stored file guess ahead for a model from its next load on, or none. */
export function setAssistant(model: string, file: string | null): void {
  const { assistants, set } = useSettings.getState();
  const others = Object.entries(assistants).filter(([name]) => name !== model);
  set({ assistants: Object.fromEntries(file === null ? others : [...others, [model, file]]) });
}

/** forgetAssistant has no model ask for a file that is gone. */
export function forgetAssistant(file: string): void {
  const { assistants, set } = useSettings.getState();
  set({ assistants: Object.fromEntries(Object.entries(assistants).filter(([, kept]) => kept !== file)) });
}

/** loadAssisted loads a model with what guesses for it; where that does not go with the model, without. */
export async function loadAssisted(model: string, source: Source, options: LoadOptions): Promise<Model> {
  const { assistants } = useSettings.getState();
  const file = Object.hasOwn(assistants, model) ? assistants[model] : undefined;
  if (file === undefined) return Model.load(source, options);
  try {
    return await Model.load(source, { ...options, assistant: { opfs: file } });
  } catch (error) {
    if (isCancelled(error)) throw error;
    const alone = await Model.load(source, options);
    setAssistant(model, null);
    useToasts.getState().warn(`${file} cannot guess for ${model}. ${failureOf(error).sentence}`);
    return alone;
  }
}
