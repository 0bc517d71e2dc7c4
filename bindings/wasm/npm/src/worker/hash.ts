import { createSHA256 } from "hash-wasm";

/** Hash is SHA-256 over a stream; its state can be kept and taken up again. */
export class Hash {
  #hasher: Awaited<ReturnType<typeof createSHA256>>;

  private constructor(hasher: Awaited<ReturnType<typeof createSHA256>>) {
    this.#hasher = hasher;
  }

  static async create(): Promise<Hash> {
    const hasher = await createSHA256();
    hasher.init();
    return new Hash(hasher);
  }

  update(bytes: Uint8Array): void {
    this.#hasher.update(bytes);
  }

  /** digest ends the hash: hex. */
  digest(): string {
    return this.#hasher.digest("hex");
  }

  save(): string {
    return btoa(String.fromCharCode(...this.#hasher.save()));
  }

  /** restore is false for a state that is none, or of another version. */
  restore(state: string): boolean {
    try {
      this.#hasher.load(Uint8Array.from(atob(state), (c) => c.charCodeAt(0)));
      return true;
    } catch {
      this.#hasher.init();
      return false;
    }
  }
}
