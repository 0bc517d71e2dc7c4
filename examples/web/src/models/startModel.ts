import { goTo, pageHref } from "../app/route";
import type { ModelChoice } from "../engine/choice";
import { useEngine } from "../engine/engineStore";

/** Opens a model and goes to the chat, where its progress is shown. */
export function startModel(choice: ModelChoice): void {
  void useEngine.getState().open(choice);
  goTo(pageHref.chat);
}
