/** blockBytes is how much of a file on a server is kept together. */
export const blockBytes = 256 << 10;

// Bytes that the files of one model may have here at once; and for as long as
// nothing is read, which a model that has been loaded seldom does.
const most = 48 << 20;
const mostAtRest = 4 << 20;
const restAfter = 5000; // milliseconds

/**
 * Blocks caches blocks of the files on servers. Used ones are evicted first, the
 * least recently used before the others: a block that was prefetched is wanted soon.
 */
export class Blocks {
  // In the order of their eviction.
  #used = new Map<string, Uint8Array>();
  #unused = new Map<string, Uint8Array>();
  #bytes = 0;
  #files = 0;
  #rest: ReturnType<typeof setTimeout> | undefined;

  /** file numbers another file. */
  file(): number {
    return ++this.#files;
  }

  has(file: number, block: number): boolean {
    const key = keyOf(file, block);
    return this.#unused.has(key) || this.#used.has(key);
  }

  /** use gives a block, which is evicted before the unused ones from then on. */
  use(file: number, block: number): Uint8Array | undefined {
    const key = keyOf(file, block);
    const bytes = this.#unused.get(key) ?? this.#used.get(key);
    this.#armTimer();
    if (bytes) {
      this.#unused.delete(key);
      this.#used.delete(key);
      this.#used.set(key, bytes);
    }
    return bytes;
  }

  put(file: number, block: number, bytes: Uint8Array): void {
    const key = keyOf(file, block);
    this.#drop(key);
    this.#unused.set(key, bytes);
    this.#bytes += bytes.length;
    this.#evict(most);
    this.#armTimer();
  }

  #evict(limit: number): void {
    while (this.#bytes > limit) this.#drop((this.#used.size ? this.#used : this.#unused).keys().next().value!);
  }

  #armTimer(): void {
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => this.#evict(mostAtRest), restAfter);
  }

  /** forget drops all of a file. */
  forget(file: number): void {
    for (const key of [...this.#used.keys(), ...this.#unused.keys()]) if (key.startsWith(`${file} `)) this.#drop(key);
  }

  #drop(key: string): void {
    this.#bytes -= (this.#unused.get(key) ?? this.#used.get(key))?.length ?? 0;
    this.#unused.delete(key);
    this.#used.delete(key);
  }
}

const keyOf = (file: number, block: number) => `${file} ${block}`;
