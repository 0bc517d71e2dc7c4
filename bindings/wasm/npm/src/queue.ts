// Queue hands values from whoever pushes to whoever iterates.
export class Queue<T> {
  #values: T[] = [];
  #waiting: (() => void) | null = null;
  #ended = false;
  #error: unknown = undefined;

  push(value: T): void {
    this.#values.push(value);
    this.#wake();
  }

  /** end lets the iteration run out, or throw. */
  end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#wake();
  }

  async *drain(): AsyncGenerator<T, void, undefined> {
    for (;;) {
      while (this.#values.length > 0) yield this.#values.shift() as T;
      if (this.#ended) break;
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
    if (this.#error !== undefined) throw this.#error;
  }

  #wake(): void {
    this.#waiting?.();
    this.#waiting = null;
  }
}
