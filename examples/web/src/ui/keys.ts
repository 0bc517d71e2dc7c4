/** isComposing says whether a key belongs to an input method, which is still making characters of what is typed. */
export function isComposing(event: Pick<KeyboardEvent, "isComposing" | "keyCode">): boolean {
  // Safari ends the composition before the Enter that ended it; only this number tells.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  return event.isComposing || event.keyCode === 229;
}

/** isSending says whether a key in a message sends it: Enter, or Shift + Enter where Enter starts a new line. */
export function isSending(
  event: Pick<KeyboardEvent, "key" | "shiftKey" | "isComposing" | "keyCode">,
  enterSends: boolean,
): boolean {
  return event.key === "Enter" && event.shiftKey !== enterSends && !isComposing(event);
}
