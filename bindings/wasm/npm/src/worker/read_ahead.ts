import { cancelled } from "../error.js";
import { blockBytes, type Blocks } from "./blocks.js";
import type { RemoteFile } from "./http.js";

// All in blocks. A reader is followed by requests ahead of it: as much as it
// has read in a row, so that a look at a header fetches little more than that.
const mostAhead = (16 << 20) / blockBytes;
const leastAhead = (1 << 20) / blockBytes;
// No answer is longer: browsers take in all of it, wanted or not.
const longest = (8 << 20) / blockBytes;
// A read this near behind another one goes on with it.
const near = leastAhead;
// Readers that are told apart: files are not read quite in their order.
const mostReaders = 4;
// Requests at a time that nobody waits for yet.
const mostRequests = 3;

/** Reader is a place in the file where reads follow each other. */
interface Reader {
  /** The block behind the last one that was read. */
  next: number;
  /** How many were read in a row. */
  row: number;
}

/** ReadAhead reads a file on a server, ahead of what is asked for. */
export class ReadAhead {
  readonly #file: RemoteFile;
  readonly #blocks: Blocks;
  readonly #id: number;
  readonly #count: number;
  // Blocks that are on their way.
  readonly #coming = new Map<number, Promise<void>>();
  // The one that was used longest ago comes first. The first read is a header's.
  #readers: Reader[] = [{ next: 0, row: 0 }];
  #requests = 0;
  #control = new AbortController();
  #out = new Uint8Array(0);

  constructor(file: RemoteFile, blocks: Blocks) {
    this.#file = file;
    this.#blocks = blocks;
    this.#id = blocks.file();
    this.#count = Math.ceil(file.size! / blockBytes);
  }

  /** read gives bytes that are good until the next read. */
  async read(offset: number, length: number): Promise<Uint8Array> {
    if (this.#out.length < length) this.#out = new Uint8Array(length);
    const out = this.#out.subarray(0, length);
    if (length === 0) return out;
    const { signal } = this.#control;
    const first = Math.floor(offset / blockBytes),
      last = Math.floor((offset + length - 1) / blockBytes);
    this.#ask(first, last);
    this.#goAhead(this.#follow(first, last));
    for (let block = first; block <= last; block++) {
      const bytes = await this.#block(block, last, signal);
      const from = Math.max(offset - block * blockBytes, 0);
      out.set(bytes.subarray(from, offset + length - block * blockBytes), block * blockBytes + from - offset);
    }
    return out;
  }

  async #block(block: number, last: number, signal: AbortSignal): Promise<Uint8Array> {
    for (;;) {
      if (signal.aborted) throw cancelled();
      const bytes = this.#blocks.use(this.#id, block);
      if (bytes) return bytes;
      this.#ask(block, last); // again, where it has given way meanwhile
      await this.#coming.get(block);
    }
  }

  /** follow finds the reader that goes on here, or begins another one. */
  #follow(first: number, last: number): Reader {
    const at = this.#readers.findIndex(({ next }) => first >= next - 1 && first - next <= near);
    const reader = this.#readers.splice(at, at < 0 ? 0 : 1)[0] ?? { next: first, row: 0 };
    if (this.#readers.length >= mostReaders) this.#readers.shift();
    reader.row += Math.max(last + 1 - reader.next, 0);
    reader.next = last + 1;
    this.#readers.push(reader);
    return reader;
  }

  /** goAhead asks for what comes next, when half of it has been used up. */
  #goAhead({ next, row }: Reader): void {
    const ahead = Math.min(row, mostAhead);
    if (ahead < leastAhead || !this.#missing(next, next + Math.floor(ahead / 2))) return;
    for (let block = next; block < Math.min(next + ahead, this.#count) && this.#requests < mostRequests; block++) {
      if (this.#isMissing(block)) this.#request(block, Math.min(next + ahead, this.#count) - 1);
    }
  }

  #missing(first: number, end: number): boolean {
    for (let block = first; block < Math.min(end, this.#count); block++) if (this.#isMissing(block)) return true;
    return false;
  }

  #isMissing(block: number): boolean {
    return !this.#coming.has(block) && !this.#blocks.has(this.#id, block);
  }

  /** ask requests what is missing of some blocks. */
  #ask(first: number, last: number): void {
    for (let block = first; block <= last; block++) if (this.#isMissing(block)) this.#request(block, last);
  }

  /** request asks the server for a run of missing blocks, up to last. */
  #request(first: number, last: number): void {
    let end = first + 1;
    while (end <= last && end - first < longest && this.#isMissing(end)) end++;
    const run = new Run(this.#file, first, end, (block, bytes) => {
      this.#blocks.put(this.#id, block, bytes);
      this.#coming.delete(block);
    });
    this.#requests++;
    for (let block = first; block < end; block++) this.#coming.set(block, run.arrival(block));
    void run.fetch(this.#control.signal).finally(() => {
      this.#requests--;
      for (let block = first; block < end; block++) this.#coming.delete(block);
    });
  }

  /** cancel ends the read under way. */
  cancel(): void {
    this.#control.abort();
    this.#control = new AbortController();
  }

  close(): void {
    this.cancel();
    this.#blocks.forget(this.#id);
  }
}

/** Run is one request: blocks from first to before end. */
class Run {
  #file: RemoteFile;
  #first: number;
  #end: number;
  #store: (block: number, bytes: Uint8Array) => void;
  #arrivals: { promise: Promise<void>; resolve(): void; reject(error: unknown): void }[] = [];

  constructor(file: RemoteFile, first: number, end: number, store: (block: number, bytes: Uint8Array) => void) {
    this.#file = file;
    this.#first = first;
    this.#end = end;
    this.#store = store;
    for (let block = first; block < end; block++) this.#arrivals.push(arrival());
  }

  arrival(block: number): Promise<void> {
    return this.#arrivals[block - this.#first]!.promise;
  }

  /** fetch brings the blocks; it does not throw, the arrivals do. */
  async fetch(signal: AbortSignal): Promise<void> {
    const start = this.#first * blockBytes;
    const length = Math.min(this.#end * blockBytes, this.#file.size!) - start;
    let next = this.#first,
      filled = 0;
    let block = new Uint8Array(Math.min(blockBytes, length));
    try {
      await this.#file.stream(start, length, signal, (chunk) => {
        for (let at = 0; at < chunk.length;) {
          const part = chunk.subarray(at, at + block.length - filled);
          block.set(part, filled);
          filled += part.length;
          at += part.length;
          if (filled < block.length) continue;
          this.#store(next, block);
          this.#arrivals[next++ - this.#first]!.resolve();
          block = new Uint8Array(Math.min(blockBytes, start + length - next * blockBytes));
          filled = 0;
        }
      });
    } catch (error) {
      for (const { reject } of this.#arrivals) reject(error);
    }
  }
}

function arrival() {
  let resolve!: () => void, reject!: (error: unknown) => void;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(() => {}); // nobody may be waiting
  return { promise, resolve, reject };
}
