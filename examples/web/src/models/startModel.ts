import { goTo, pageHref } from "../app/route";
import type { ModelChoice } from "../engine/choice";
import { useEngine } from "../engine/engineStore";
import { useSettings } from "../settings/settingsStore";

/** Opens a model and goes to the chat, where its progress is shown. */
export function startModel(choice: ModelChoice): void {
  useSettings.getState().set({ answersFrom: "tab" });
  void useEngine.getState().open(choice);
  goTo(pageHref.chat);
}
