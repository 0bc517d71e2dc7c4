import "gemwire:wasm_exec";
import kernelBytes from "gemwire:kernels";
import { link } from "gemwire:link";
// Go would evaluate it otherwise, which a content security policy may forbid.
import "gemwire:webgpu";
import { cancelled, fromFailure, GemwireError } from "../error.js";
import type { Failure, FileChunk, Notice, Op, WorkerReply } from "../protocol.js";
import { unreachable } from "./http.js";
import { hearLastWords, outOfMemory } from "./last_words.js";
import type { OpenSource } from "./open_source.js";

// Go's own loader, as the toolchain ships it.
declare const Go: new () => {
  importObject: WebAssembly.Imports;
  exit(code: number): void;
  run(instance: WebAssembly.Instance): Promise<void>;
};

// wgslkit's half in JavaScript: ticket -1 tells that the device is lost.
type Notify = (ticket: number, ...answer: [] | [kind: string, message: string, value?: unknown]) => void;
declare const gemwireWebGPU: { open(options: object, notify: Notify): void };

type Handle = (request: string, ...attached: (OpenSource | Uint8Array)[]) => void;

interface CallOptions {
  /** What Go reads, and closes. */
  sources?: OpenSource[];
  /** The media that the params list, or training data. */
  binaries?: Uint8Array[];
  signal: AbortSignal;
  tell?(event: unknown): void;
  /** Hears pieces of the files that Go writes, whose bytes it may keep. It must not throw. */
  write?(chunk: FileChunk, bytes: Uint8Array<ArrayBuffer>): void;
}

interface Pending extends Pick<CallOptions, "tell" | "write"> {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

// watchDevice lets lost hear of every device that goes away by itself.
function watchDevice(lost: (failure: Failure) => void): void {
  const { open } = gemwireWebGPU;
  gemwireWebGPU.open = (options, notify) =>
    open(options, (ticket, ...answer) => {
      if (ticket === -1) {
        lost({
          code: "device-lost",
          message: `the GPU device was lost: ${answer[1] ?? ""}`,
          advice:
            "Load the model again; if it happens again, with a smaller context or memoryBudget. Models kept in " +
            "OPFS need no new download.",
        });
      }
      notify(ticket, ...answer);
    });
}

/** Engine is the Go program, which runs until the worker ends. */
export class Engine {
  #handle!: Handle;
  #pending = new Map<number, Pending>();
  #last = 0;
  #dead: GemwireError | null = null;
  #notice: (notice: Notice) => void;
  /** The digest of all kernels, by which verdicts are kept. */
  kernels = "";

  private constructor(notice: (notice: Notice) => void) {
    this.#notice = notice;
  }

  /** start compiles and runs the bundle. fatal hears when the program has died, lost when a device has. */
  static async start({
    fatal,
    lost,
    notice,
  }: {
    fatal(failure: Failure): void;
    lost(failure: Failure): void;
    notice(notice: Notice): void;
  }): Promise<Engine> {
    watchDevice(lost);
    const engine = new Engine(notice);
    const go = new Go();
    let code = 0;
    go.exit = (given) => {
      code = given;
    };
    const lastWords = hearLastWords();
    const kernels = await link(kernelBytes);
    const instance = await instantiate({ ...go.importObject, ...kernels.imports });
    kernels.bind(instance.exports["mem"] as WebAssembly.Memory);
    const host = globalThis as { gemwireHost?: object };
    await new Promise<void>((resolve, reject) => {
      host.gemwireHost = {
        ready(handle: Handle, digest: string) {
          engine.#handle = handle;
          engine.kernels = digest;
          resolve();
        },
        post: (reply: string, bytes?: Uint8Array<ArrayBuffer>) =>
          engine.#receive(JSON.parse(reply) as WorkerReply, bytes),
      };
      const ended = (error?: unknown) => {
        const failure = causeOfDeath(
          error instanceof Error ? error.message : lastWords() || `it ended with code ${code}`,
        );
        engine.#die(fromFailure(failure));
        fatal(failure);
        reject(fromFailure(failure));
      };
      go.run(instance).then(() => ended(), ended);
    });
    delete host.gemwireHost;
    return engine;
  }

  /** call asks Go; aborting the signal cancels. */
  call(op: Op, params: unknown, { sources = [], binaries = [], signal, tell, write }: CallOptions): Promise<unknown> {
    if (this.#dead) return Promise.reject(this.#dead);
    if (signal.aborted) {
      for (const source of sources) source.close?.();
      return Promise.reject(cancelled(signal));
    }
    const id = ++this.#last;
    const abort = () => this.#handle(JSON.stringify({ id: ++this.#last, op: "cancel", params: { target: id } }));
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { ...(tell && { tell }), ...(write && { write }), resolve, reject });
      signal.addEventListener("abort", abort, { once: true });
      this.#handle(JSON.stringify({ id, op, params }), ...sources, ...binaries);
    }).finally(() => signal.removeEventListener("abort", abort));
  }

  #receive({ id, event, result, error, notice }: WorkerReply, bytes?: Uint8Array<ArrayBuffer>): void {
    if (notice) return this.#notice(notice);
    const pending = this.#pending.get(id);
    if (!pending) return; // a cancel's own answer
    if (bytes) return pending.write?.(event as FileChunk, bytes);
    if (event !== undefined) return pending.tell?.(event);
    this.#pending.delete(id);
    if (error) pending.reject(fromFailure(error));
    else pending.resolve(result);
  }

  #die(error: GemwireError): void {
    this.#dead = error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}

function causeOfDeath(words: string): Failure {
  if (outOfMemory(words)) {
    return {
      code: "out-of-memory",
      message: `this tab has no more memory: ${words}`,
      advice:
        "Close other tabs, and load the model again with a smaller context, with fewer sessions, or a smaller model.",
    };
  }
  return {
    code: "internal",
    message: `the program failed: ${words}`,
    advice: "Load the model again, with a smaller context if it happens again.",
  };
}

async function instantiate(imports: WebAssembly.Imports): Promise<WebAssembly.Instance> {
  const url = new URL("./gemwire.wasm", import.meta.url);
  const response = await fetch(url).catch((error: unknown) => {
    throw unreachable("gemwire.wasm", error);
  });
  if (!response.ok)
    throw new GemwireError("not-found", `gemwire.wasm could not be loaded: ${url.href} answers ${response.status}`);
  // Servers that do not know WebAssembly's type are forgiven.
  if (response.headers.get("Content-Type")?.startsWith("application/wasm")) {
    return (await WebAssembly.instantiateStreaming(response, imports)).instance;
  }
  return (await WebAssembly.instantiate(await response.arrayBuffer(), imports)).instance;
}
