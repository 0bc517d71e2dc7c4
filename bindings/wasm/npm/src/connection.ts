import { checkBrowser } from "./environment.js";
import { cancelled, fromFailure, GemwireError } from "./error.js";
import type { Notice, Op, Operations, PageRequest, Port, WireMedium, WireSource, WorkerReply } from "./protocol.js";
import type { Serve } from "./types.js";

interface Pending {
  event?: ((event: never) => void) | undefined;
  resolve: (result: never) => void;
  reject: (error: GemwireError) => void;
}

export interface CallOptions<O extends Op> {
  source?: WireSource;
  media?: WireMedium[];
  data?: Blob[];
  signal?: AbortSignal | undefined;
  onEvent?: ((event: Operations[O]["event"]) => void) | undefined;
}

/** Connection is a page's end of the protocol. */
export class Connection {
  /** Resolves when nothing can be asked any more: the worker died, or the device is lost. */
  readonly lost: Promise<GemwireError>;
  #port: Port;
  #end: () => void;
  #pending = new Map<number, Pending>();
  #notices = new Map<number, (notice: Notice) => void>();
  #last = 0;
  #dead: GemwireError | null = null;
  #lose!: (error: GemwireError) => void;

  private constructor(port: Port, end: () => void) {
    this.#port = port;
    this.#end = end;
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
    port.addEventListener("message", (event) => this.#receive(event.data as WorkerReply));
    port.start?.();
  }

  /** open connects to a worker of our own, to one given, or to this very thread. */
  static async open(worker: true | Worker | Serve = true): Promise<Connection> {
    checkBrowser();
    if (typeof worker === "function") return Connection.#inProcess(worker);
    // An import of the worker's script here would have bundlers ship it twice.
    if ((worker as unknown) === false)
      throw new GemwireError("bad-argument", "worker: false is no longer an option", {
        advice: 'Import serve from "gemwire/worker", and load the model with worker: serve.',
      });
    if (typeof Worker === "undefined")
      throw new GemwireError("unsupported", "there are no workers here", {
        advice: 'Load models in a page, or with worker: serve of "gemwire/worker".',
      });
    const own = worker === true;
    const port = own
      ? new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: "gemwire" })
      : worker;
    const connection = new Connection(port, () => {
      if (own) port.terminate();
    });
    port.addEventListener("error", (event) => {
      event.preventDefault();
      connection.#die(
        new GemwireError("internal", `the worker failed: ${event.message || "its script could not be loaded"}`, {
          advice: event.message
            ? undefined
            : "Check that worker.js and gemwire.wasm are served next to the package's index.js. With Vite 7 or " +
              'older, set optimizeDeps: { exclude: ["gemwire"] }.',
        }),
      );
    });
    return connection;
  }

  static #inProcess(serve: Serve): Connection {
    const { port1, port2 } = new MessageChannel();
    serve(port2);
    return new Connection(port1, () => port1.close());
  }

  /** call asks for something and waits for it; the signal cancels it. */
  call<O extends Op>(
    op: O,
    params: Operations[O]["params"],
    options: CallOptions<O> = {},
  ): Promise<Operations[O]["result"]> {
    const { signal, source, media, data, onEvent } = options;
    if (this.#dead) return Promise.reject(this.#dead);
    if (signal?.aborted) return Promise.reject(cancelled(signal));
    const id = ++this.#last;
    const abort = () => this.#post({ id: ++this.#last, op: "cancel", params: { target: id } });
    return new Promise<Operations[O]["result"]>((resolve, reject) => {
      this.#pending.set(id, { event: onEvent, resolve, reject });
      signal?.addEventListener("abort", abort, { once: true });
      try {
        this.#post({
          id,
          op,
          params,
          ...(source && { source }),
          ...(media?.length && { media }),
          ...(data && { data }),
        });
      } catch (error) {
        this.#pending.delete(id);
        reject(new GemwireError("bad-argument", `${op}: ${(error as Error).message}`, { cause: error }));
      }
    }).finally(() => signal?.removeEventListener("abort", abort));
  }

  /** hear passes on what concerns a model and answers no request. */
  hear(model: number, listener: (notice: Notice) => void): void {
    this.#notices.set(model, listener);
  }

  /** close ends the worker, if it is our own, and all that is under way. */
  close(): void {
    this.#die(new GemwireError("closed", "the model is closed"));
    this.#end();
  }

  // An ImageBitmap stays its owner's; the bytes of media were made for this message.
  #post(request: PageRequest): void {
    this.#port.postMessage(
      request,
      (request.media ?? []).map(({ data }) => data).filter((data) => data instanceof ArrayBuffer),
    );
  }

  #receive({ id, event, result, error, fatal, lost, notice }: WorkerReply): void {
    if (fatal) return this.#die(fromFailure(fatal));
    if (lost) return this.#lose(fromFailure(lost));
    if (notice) return this.#notices.get(notice.model ?? 0)?.(notice);
    const pending = this.#pending.get(id);
    if (event !== undefined) {
      (pending?.event as ((event: unknown) => void) | undefined)?.(event);
      return;
    }
    this.#pending.delete(id);
    if (!error) return (pending?.resolve as ((result: unknown) => void) | undefined)?.(result);
    const made = fromFailure(error);
    pending?.reject(made);
    if (made.code === "device-lost") this.#lose(made);
  }

  #die(error: GemwireError): void {
    if (this.#dead) return;
    this.#dead = error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    if (error.code !== "closed") this.#lose(error);
  }
}
