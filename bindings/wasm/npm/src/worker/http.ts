import { cancelled, GemwireError } from "../error.js";
import type { RequestOptions } from "../types.js";

/** Sink takes a stream's bytes in order; they are good during the call. */
export type Sink = (chunk: Uint8Array) => void | Promise<void>;

const longestPause = 30_000; // ms
// A server that is there says something soon, if only its headers. One that has
// never answered is not tried as long as one that falls silent half way.
const firstByte = 10_000; // ms
const firstRetries = 2;

/** Refused is an answer that another try would not change. */
class Refused extends GemwireError {}

/** RemoteFile is a file on a server, as the server describes it. */
export class RemoteFile {
  /** The address without what may be secret in it. */
  readonly shown: string;
  /** Bytes; null where the server does not tell. */
  size: number | null = null;
  /** Whether the server serves parts. */
  ranges = false;
  /** What tells this version from others: ETag or date; "" where there is neither. */
  version = "";
  readonly #url: string;
  readonly #options: Required<Pick<RequestOptions, "retries" | "backoff" | "stall">> & RequestOptions;

  private constructor(url: string, options: RequestOptions = {}) {
    this.#url = url;
    this.shown = show(url);
    this.#options = {
      ...options,
      retries: options.retries ?? 5,
      backoff: options.backoff ?? 500,
      stall: options.stall ?? 30_000,
    };
  }

  /** open asks for the first bytes, which it hands over where the server serves parts. */
  static async open(url: string, signal: AbortSignal, options?: RequestOptions): Promise<RemoteFile> {
    const file = new RemoteFile(url, options);
    await file.#persist(signal, () => file.#ask(signal), { retries: Math.min(file.#options.retries, firstRetries) });
    return file;
  }

  async #ask(signal: AbortSignal): Promise<boolean> {
    const watch = new Watch(Math.min(this.#options.stall, firstByte), signal);
    try {
      await this.#describe(await this.#fetch(0, 0, watch.signal), watch.signal);
      return true;
    } catch (error) {
      throw watch.stalled && !signal.aborted ? this.#silent(watch) : error;
    } finally {
      watch.end(); // the body does not matter
    }
  }

  #silent({ limit }: Watch): GemwireError {
    return new GemwireError("network", `${this.shown}: the server sent nothing for ${limit / 1000} s`);
  }

  async #describe(response: Response, signal: AbortSignal): Promise<void> {
    this.version = versionOf(response);
    if (response.status === 206) {
      this.ranges = true;
      this.size = totalOf(response) ?? (await this.#headSize(signal));
      if (this.size === null) this.ranges = false; // nothing could be checked
    } else if (!response.headers.get("Content-Encoding")) {
      this.size = numberOf(response.headers.get("Content-Length"));
    }
  }

  // Servers elsewhere may keep Content-Range from scripts, but not Content-Length.
  async #headSize(signal: AbortSignal): Promise<number | null> {
    const response = await fetch(this.#url, { ...this.#init(), method: "HEAD", signal });
    return response.ok ? numberOf(response.headers.get("Content-Length")) : null;
  }

  /**
   * stream hands length bytes from first on to sink, in order, and tries again
   * where the connection breaks off. Where the server does not serve parts it
   * can only begin at 0: restart then hears that all bytes come again.
   */
  async stream(
    first: number,
    length: number | null,
    signal: AbortSignal,
    sink: Sink,
    restart?: () => void | Promise<void>,
  ): Promise<void> {
    let got = 0;
    await this.#persist(
      signal,
      async () => {
        if (first + got > 0 && !this.ranges) {
          if (!restart) throw this.#noRanges();
          await restart();
          first = got = 0;
        }
        return this.#once(first + got, length === null ? null : length - got, signal, async (chunk) => {
          await sink(chunk);
          got += chunk.length;
        });
      },
      { progress: () => (this.ranges ? got : 0) },
    );
  }

  /** once is one request; true where it brought all that was asked for. */
  async #once(first: number, length: number | null, signal: AbortSignal, sink: Sink): Promise<boolean> {
    const watch = new Watch(this.#options.stall, signal);
    try {
      const response = await this.#fetch(first, length === null ? null : first + length - 1, watch.signal);
      const expected = await this.#check(response, first, length);
      return await this.#drain(response, expected, watch, sink);
    } catch (error) {
      if (signal.aborted) throw cancelled(signal);
      throw watch.stalled ? this.#silent(watch) : error;
    } finally {
      watch.end();
    }
  }

  async #drain(response: Response, expected: number | null, watch: Watch, sink: Sink): Promise<boolean> {
    const reader = response.body!.getReader();
    let got = 0;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return expected === null || got === expected;
        got += value.length;
        if (expected !== null && got > expected)
          throw new Refused(
            "changed",
            `${this.shown}: the server sent more than the ${expected} bytes that it promised`,
          );
        watch.pause();
        await sink(value);
        watch.touch();
      }
    } finally {
      reader.cancel().catch(() => {});
    }
  }

  /** check compares an answer with what is known of the file; it returns how many bytes must come. */
  async #check(response: Response, first: number, length: number | null): Promise<number | null> {
    const version = versionOf(response);
    if (this.version && version && version !== this.version) throw this.#changed("its version is another");
    if (response.status === 206) {
      const range = rangeOf(response);
      if (range && range.first !== first)
        throw new Refused("network", `${this.shown}: asked for byte ${first}, the server sent byte ${range.first}`);
      if (range?.total != null && range.total !== this.size)
        throw this.#changed(`it has ${range.total} bytes, and had ${this.size}`);
      const end = first + (length ?? this.size! - first);
      if (range && range.last + 1 > end)
        throw new Refused("network", `${this.shown}: the server sends more than was asked for`);
      return end - first;
    }
    if (this.ranges) throw this.#noRanges();
    const size = response.headers.get("Content-Encoding") ? null : numberOf(response.headers.get("Content-Length"));
    if (this.size !== null && size !== null && size !== this.size)
      throw this.#changed(`it has ${size} bytes, and had ${this.size}`);
    return this.size;
  }

  #changed(how: string): GemwireError {
    return new Refused("changed", `${this.shown} has changed on the server: ${how}`);
  }

  #noRanges(): GemwireError {
    return new Refused("no-ranges", `${this.shown}: the server does not serve parts of the file`);
  }

  #init(): RequestInit {
    const { headers, credentials } = this.#options;
    // Gigabytes would push everything else out of the browser's cache.
    return { cache: "no-store", ...(headers && { headers }), ...(credentials && { credentials }) };
  }

  async #fetch(first: number, last: number | null, signal: AbortSignal): Promise<Response> {
    const init = this.#init();
    const headers = new Headers(init.headers);
    if (last !== null || first > 0) headers.set("Range", `bytes=${first}-${last ?? ""}`);
    const response = await fetch(this.#url, { ...init, headers, signal });
    if (response.ok) return response;
    const message = `${this.shown} answers ${response.status}${response.statusText && ` ${response.statusText}`}`;
    response.body?.cancel().catch(() => {});
    switch (true) {
      case response.status === 404 || response.status === 410:
        throw new Refused("not-found", message);
      case response.status === 401 || response.status === 403:
        throw new Refused("network", message, {
          advice: "The file needs permission: log in there, or send an Authorization header (request.headers).",
        });
      case response.status === 416:
        throw this.#changed("it is shorter than before");
      case response.status === 408 || response.status === 429 || response.status >= 500:
        throw new Later(message, response.headers.get("Retry-After"));
    }
    throw new Refused("network", message);
  }

  /**
   * persist tries until an attempt is true, or until too many in a row have brought
   * nothing. Retries bound those in which nobody answered; who asks for patience gets it.
   */
  async #persist(
    signal: AbortSignal,
    attempt: () => Promise<boolean>,
    { progress = () => 0, retries = this.#options.retries }: { progress?: () => number; retries?: number } = {},
  ): Promise<void> {
    const { backoff } = this.#options;
    for (let failures = 0, before = 0; ; before = progress()) {
      let error: unknown = new GemwireError("network", `${this.shown}: the server ended its answer early`);
      try {
        if (await attempt()) return;
      } catch (thrown) {
        if (signal.aborted) throw cancelled(signal);
        if (!retryable(thrown)) throw thrown;
        error = thrown instanceof GemwireError ? thrown : unreachable(this.shown, thrown);
        if (error !== thrown && offline()) throw error; // another try would not change that
      }
      if (progress() > before) failures = 0;
      if (++failures > (error instanceof Later ? this.#options.retries : retries)) throw error;
      const wait = Math.max(backoff * 2 ** (failures - 1), error instanceof Later ? error.wait : 0);
      await pause(Math.min(wait, longestPause) * (0.75 + Math.random() / 2), signal);
    }
  }
}

/** Later is an answer that may change by itself. */
class Later extends GemwireError {
  readonly wait: number;

  constructor(message: string, retryAfter: string | null) {
    super("network", message);
    this.wait = 1000 * (Number(retryAfter) || 0);
  }
}

// retryable says whether the network may be to blame: fetch throws a TypeError then.
function retryable(error: unknown): boolean {
  if (error instanceof Refused) return false;
  if (error instanceof GemwireError) return error.code === "network";
  return error instanceof TypeError;
}

const offline = (): boolean => globalThis.navigator?.onLine === false;

/** unreachable is fetch's error, whose own words ("Failed to fetch") say nothing and are others in each browser. */
export function unreachable(shown: string, cause: unknown): GemwireError {
  return offline()
    ? new GemwireError("network", `${shown} cannot be reached: this device is offline`, {
        advice: "Connect this device and try again: a download resumes where it stopped.",
        cause,
      })
    : new GemwireError("network", `${shown} cannot be reached, or does not allow requests from this page`, { cause });
}

/** Watch ends a request whose server falls silent. */
class Watch {
  readonly signal: AbortSignal;
  stalled = false;
  #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly limit: number;

  constructor(limit: number, outer: AbortSignal) {
    this.limit = limit;
    this.signal = AbortSignal.any([outer, this.#controller.signal]);
    this.touch();
  }

  touch(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.stalled = true;
      this.#controller.abort();
    }, this.limit);
  }

  /** pause stops the clock while the bytes are being used. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    this.pause();
    this.#controller.abort();
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(cancelled(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal.addEventListener("abort", abort, { once: true });
  });
}

const numberOf = (text: string | null): number | null =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;

function versionOf(response: Response): string {
  return response.headers.get("ETag") ?? response.headers.get("Last-Modified") ?? "";
}

/** rangeOf reads "bytes 0-99/1000", null where the server does not show it. */
export function rangeOf(response: Response): { first: number; last: number; total: number | null } | null {
  const m = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(response.headers.get("Content-Range") ?? "");
  return m && { first: Number(m[1]), last: Number(m[2]), total: m[3] === "*" ? null : Number(m[3]) };
}

const totalOf = (response: Response) => rangeOf(response)?.total ?? null;

/** show leaves out of an address what may be secret. */
export function show(url: string): string {
  const made = new URL(url);
  if (made.protocol === "blob:" || made.protocol === "data:") return `${made.protocol} address`;
  return `${made.origin}${made.pathname}`;
}
