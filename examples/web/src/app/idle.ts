/** The longest that anything waits for an idle page, in milliseconds. */
const patience = 1000;

/** whenIdle waits until the page has been painted and has nothing else to do. */
export const whenIdle = (): Promise<void> =>
  new Promise((resolve) => {
    // Safari has no idle callbacks; a timer comes behind the paint, too.
    if (typeof requestIdleCallback === "function") requestIdleCallback(() => resolve(), { timeout: patience });
    else setTimeout(resolve, 50);
  });
