import { cancelled, GemwireError } from "../error.js";
import type { RequestOptions } from "../types.js";
import { rangeOf, unreachable } from "./http.js";
import { MemorySource, type OpenSource } from "./open_source.js";

/**
 * openArriving takes a small file in one plain request, through the browser's cache and the page's service worker. The
 * file can be read while it comes, where the server says how long it is: what stands first in it is used first.
 */
export async function openArriving(
  url: string,
  of: Arriving,
  signal: AbortSignal,
  options?: RequestOptions,
): Promise<OpenSource> {
  const control = new AbortController();
  const asked = { url, of, options };
  const response = await ask(asked, AbortSignal.any([signal, control.signal]));
  const size = sizeOf(response);
  if (size !== null && response.body) return new ArrivingSource(response, size, { ...asked, control });
  try {
    return new MemorySource(new Uint8Array(await response.arrayBuffer()));
  } catch (error) {
    throw signal.aborted ? cancelled(signal) : unreachable(shownAs(asked), error);
  }
}

/** What is fetched whole: the model that is built in, or an adapter. */
export type Arriving = "model" | "adapter";

const shownAs = ({ url, of }: Asked) => (of === "model" ? "the built-in model" : `the adapter ${url}`);

interface Asked {
  url: string;
  of: Arriving;
  options: RequestOptions | undefined;
}

async function ask(asked: Asked, signal: AbortSignal, from = 0): Promise<Response> {
  const { url, of, options = {} } = asked;
  const headers = new Headers(options.headers);
  if (from > 0) headers.set("Range", `bytes=${from}-`);
  const { credentials } = options;
  let response: Response;
  try {
    response = await fetch(url, { signal, headers, ...(credentials && { credentials }) });
  } catch (error) {
    throw signal.aborted ? cancelled(signal) : unreachable(shownAs(asked), error);
  }
  if (response.ok) return response;
  throw new GemwireError(
    response.status === 404 ? "not-found" : "network",
    `${shownAs(asked)} could not be loaded: the server answers ${response.status}`,
    {
      advice:
        of === "model"
          ? 'Check that nano.gguf is served next to the package\'s nano.js, or set its URL: {builtin: "nano", url}.'
          : "Check the address, and that the server allows this page to fetch it.",
    },
  );
}

// A file of more bytes is no small one, and room for it is not made before it has come.
const mostBytes = 256 << 20;

// sizeOf is how many bytes will come, null where the headers do not tell. Of another site's answer scripts do not see
// whether it is compressed, and then its length is another.
function sizeOf(response: Response): number | null {
  const length = response.headers.get("Content-Length") ?? "";
  if (response.type !== "basic" || response.headers.has("Content-Encoding") || !/^\d{1,9}$/.test(length)) return null;
  return Number(length) <= mostBytes ? Number(length) : null;
}

interface Origin extends Asked {
  /** Ends the request under way. */
  control: AbortController;
}

interface Waiting {
  end: number;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * ArrivingSource is a file that is still coming. A read waits for its bytes. When the connection breaks off, the server
 * is asked for the rest as soon as a read wants it. The reads that wait fail when that brings nothing, and the next one
 * asks again.
 */
class ArrivingSource implements OpenSource {
  readonly size: number;
  readonly #origin: Origin;
  readonly #version: string;
  #bytes: Uint8Array<ArrayBuffer>;
  #got = 0;
  #coming = true;
  #waiting: Waiting[] = [];

  constructor(response: Response, size: number, origin: Origin) {
    this.size = size;
    this.#origin = origin;
    this.#version = versionOf(response);
    this.#bytes = new Uint8Array(size);
    void this.#receive(async () => response);
  }

  read(offset: number, length: number): Uint8Array | Promise<Uint8Array> {
    const end = offset + length;
    if (end <= this.#got) return this.#bytes.subarray(offset, end);
    if (!this.#coming) void this.#receive(() => this.#rest());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ end, resolve: () => resolve(this.#bytes.subarray(offset, end)), reject });
    });
  }

  /** cancel ends the read under way; the file goes on coming. */
  cancel(): void {
    this.#fail(cancelled());
  }

  close(): void {
    this.#origin.control.abort();
    this.#fail(cancelled());
    this.#bytes = new Uint8Array(0);
    this.#got = 0;
  }

  // receive takes in what answers bring: the first one, then those for the rest, for as long as each brings more. It
  // does not throw, the reads that wait do.
  async #receive(answer: () => Promise<Response>): Promise<void> {
    const { signal } = this.#origin.control;
    this.#coming = true;
    for (let most = this.#got; ; answer = () => this.#rest()) {
      try {
        await this.#drain(await answer());
        break;
      } catch (error) {
        const failure = error instanceof GemwireError ? error : unreachable(shownAs(this.#origin), error);
        const goOn = this.#waiting.length > 0 && this.#got > most && failure.code === "network";
        if (goOn && !signal.aborted) {
          most = this.#got;
          continue;
        }
        this.#fail(signal.aborted ? cancelled() : failure);
        break;
      }
    }
    this.#coming = false;
  }

  // rest asks for what is missing. A server that serves no parts sends all of it again.
  async #rest(): Promise<Response> {
    const response = await ask(this.#origin, this.#origin.control.signal, this.#got);
    const partial = response.status === 206;
    const range = partial ? rangeOf(response) : null;
    const fits = partial ? range?.first === this.#got && range.total === this.size : sizeOf(response) === this.size;
    if (!fits || versionOf(response) !== this.#version) {
      response.body?.cancel().catch(() => {});
      throw new GemwireError("changed", `${shownAs(this.#origin)} has changed on the server`, {
        advice: "Load it again.",
      });
    }
    if (!partial) this.#got = 0;
    return response;
  }

  async #drain(response: Response): Promise<void> {
    const reader = response.body!.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (this.#origin.control.signal.aborted) return;
      if (done) break;
      if (value.length > this.size - this.#got) throw wrongLength(`more than the ${this.size} bytes`);
      this.#bytes.set(value, this.#got);
      this.#got += value.length;
      this.#tell();
    }
    if (this.#got < this.size) throw wrongLength(`${this.#got} of the ${this.size} bytes`);
  }

  #tell(): void {
    const ready = this.#waiting.filter(({ end }) => end <= this.#got);
    this.#waiting = this.#waiting.filter(({ end }) => end > this.#got);
    for (const { resolve } of ready) resolve();
  }

  #fail(error: unknown): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) reject(error);
  }
}

const wrongLength = (what: string) =>
  new GemwireError("network", `the built-in model: the server sent ${what} that it promised`);

function versionOf(response: Response): string {
  return response.headers.get("ETag") ?? response.headers.get("Last-Modified") ?? "";
}
