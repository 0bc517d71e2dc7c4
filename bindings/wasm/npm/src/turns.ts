import { cancelled } from "./error.js";

/** Turns lets whoever comes go on when all before them are done. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** take waits for a turn and returns what ends it. Who gives up waiting is passed over. */
  async take(signal?: AbortSignal): Promise<() => void> {
    const before = this.#last;
    let release!: () => void;
    const mine = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#last = before.then(() => mine);
    try {
      await unlessAborted(before, signal);
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }
}

async function unlessAborted(promise: Promise<void>, signal?: AbortSignal): Promise<void> {
  if (!signal) return promise;
  if (signal.aborted) throw cancelled(signal);
  let abort!: () => void;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(cancelled(signal));
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    await Promise.race([promise, aborted]);
    if (signal.aborted) throw cancelled(signal); // both at once
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
