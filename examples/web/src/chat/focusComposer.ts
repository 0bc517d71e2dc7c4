export const composerId = "composer";

/** Whether the focus may go to a field unasked: where fingers type, that would open a keyboard over the page. */
const mayFocus = (): boolean => matchMedia("(pointer: fine)").matches;

/** focusComposer goes to the message field, without anybody having asked for it. */
export function focusComposer(): void {
  if (mayFocus()) document.getElementById(composerId)?.focus({ preventScroll: true });
}
