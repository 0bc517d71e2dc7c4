import type { CompletionChunk } from "./completion.js";
import { GemwireError } from "./error.js";
import { Queue } from "./queue.js";

/** An answer in pieces, with what a stream of OpenAI's package has. It is read once. */
export class CompletionStream implements AsyncIterable<CompletionChunk> {
  /** Ends the answer; the stream then ends without an error. */
  readonly controller: AbortController;
  readonly #chunks: AsyncIterator<CompletionChunk>;
  #read = false;

  /** @internal */
  constructor(chunks: AsyncIterator<CompletionChunk>, controller: AbortController) {
    this.#chunks = chunks;
    this.controller = controller;
  }

  /** Leaving the loop ends the answer. */
  async *[Symbol.asyncIterator](): AsyncGenerator<CompletionChunk, void, undefined> {
    const chunks = this.#take();
    let ended = false;
    try {
      for (;;) {
        const { value, done } = await chunks.next();
        if (done) break;
        yield value;
      }
      ended = true;
    } finally {
      if (!ended) this.controller.abort();
    }
  }

  /** Two streams with the same pieces, to be read each at its own pace. */
  tee(): [CompletionStream, CompletionStream] {
    const chunks = this.#take();
    const halves = [new Queue<CompletionChunk>(), new Queue<CompletionChunk>()] as const;
    void (async () => {
      try {
        for (let next = await chunks.next(); !next.done; next = await chunks.next())
          for (const half of halves) half.push(next.value);
        for (const half of halves) half.end();
      } catch (error) {
        for (const half of halves) half.end(error);
      }
    })();
    const [left, right] = halves.map((half) => new CompletionStream(half.drain(), this.controller));
    return [left!, right!];
  }

  /** The pieces as lines of JSON. */
  toReadableStream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const chunks = this[Symbol.asyncIterator]();
    const encoder = new TextEncoder();
    return new ReadableStream({
      async pull(controller) {
        const { value, done } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
      },
      async cancel() {
        await chunks.return();
      },
    });
  }

  #take(): AsyncIterator<CompletionChunk> {
    if (this.#read)
      throw new GemwireError("bad-argument", "this stream is being read already", {
        advice: "Split it with tee() before, to read it twice.",
      });
    this.#read = true;
    return this.#chunks;
  }
}
