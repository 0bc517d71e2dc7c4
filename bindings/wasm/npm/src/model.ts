import { nameOf, toWireAdapter } from "./adapters.js";
import { Completions } from "./completions.js";
import { Connection } from "./connection.js";
import type { GemwireError } from "./error.js";
import { pack } from "./media.js";
import { copied } from "./names.js";
import type { MemoryResult, Notice, OpenParams, OpenResult } from "./protocol.js";
import { toForm } from "./response_format.js";
import { selfTest } from "./selftest.js";
import { Session } from "./session.js";
import { checkContext, toParams, toWire } from "./source.js";
import type {
  AdapterInfo,
  AdapterOptions,
  AdapterSource,
  AdapterWeight,
  ChatEvent,
  ChatOptions,
  CountOptions,
  LeftOut,
  LoadOptions,
  Message,
  ModelInfo,
  ResponseFormat,
  SelfTestOptions,
  SelfTestReport,
  Source,
} from "./types.js";

/** An open model, ready to answer. */
export class Model {
  /** What it is and where it runs: sizes, residency plan, adapter, limits. */
  readonly info: ModelInfo;
  readonly #options: LoadOptions;
  /** OpenAI-shaped: `model.completions.create({ messages, stream })`. */
  readonly completions: Completions;
  /** Resolves when the GPU device is lost or the worker has died: load the model again. */
  readonly lost: Promise<GemwireError>;
  readonly #connection: Connection;
  readonly #id: number;
  readonly #main: Session;

  private constructor(connection: Connection, { model, session, info, media }: OpenResult, options: LoadOptions) {
    this.#options = options;
    this.#connection = connection;
    this.#id = model;
    this.#main = new Session(connection, session);
    this.info = { ...info, ...media };
    this.lost = connection.lost;
    this.completions = new Completions(this);
    this.#tellLeftOut(info.kernels?.leftOut);
    connection.hear(model, (notice) => this.#heed(notice));
  }

  /** Loads a model: streams it to the GPU without ever holding it in memory, or keeps a small one there for the CPU. */
  static async load(source: Source, options: LoadOptions = {}): Promise<Model> {
    return Model.#open(source, options, toParams(options));
  }

  static async #open(source: Source, options: LoadOptions, params: OpenParams): Promise<Model> {
    const wire = toWire(source, options);
    const connection = await Connection.open(options.worker);
    try {
      const opened = await connection.call("open", params, {
        source: wire,
        signal: options.signal,
        onEvent: (progress) => {
          options.onProgress?.(progress);
          if (progress.phase === "check") options.onCheck?.({ done: progress.done, total: progress.total });
        },
      });
      return new Model(connection, opened, options);
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  // heed takes in what is found out about kernels that come to the open model.
  #heed({ type, done = 0, total = 0, findings }: Notice): void {
    if (type === "check") this.#options.onCheck?.({ done, total });
    if (!findings) return;
    const known = new Set(this.info.kernels?.leftOut?.map(({ kernel }) => kernel));
    this.info.kernels = findings;
    this.#tellLeftOut(findings.leftOut?.filter(({ kernel }) => !known.has(kernel)));
  }

  #tellLeftOut(kernels: LeftOut[] = []): void {
    if (kernels.length > 0) this.#options.onLeftOut?.(kernels);
  }

  /** Loads a model from a server that serves ranges. */
  static loadFromUrl(url: string | URL, options?: LoadOptions): Promise<Model> {
    return Model.load(url, options);
  }

  /** Loads a model that `store.download` or `store.import` has put into the browser's storage. */
  static loadFromOpfs(name: string, options?: LoadOptions): Promise<Model> {
    return Model.load({ opfs: name }, options);
  }

  /** Loads a model without what only images and audio need; an mmproj is not even opened. */
  static loadTextOnly(source: Source, options: LoadOptions = {}): Promise<Model> {
    const { mmproj: _, ...rest } = options;
    return Model.#open(source, rest, { ...toParams(rest), textOnly: true });
  }

  /**
   * Runs every kernel against its twin on the CPU, on this very device, and
   * remembers the verdict for this adapter and browser: kernels that computed
   * wrongly are not used from then on. Where compiling is slow it is a few cases
   * of those that models use, unless the full test is asked for.
   */
  static selfTest(options: SelfTestOptions = {}): Promise<SelfTestReport> {
    return selfTest(options);
  }

  /**
   * Answers a conversation in the model's own session, when the answers that were asked for before have ended. Leaving
   * the loop ends the answer.
   */
  chat(messages: Message[], options?: ChatOptions): AsyncGenerator<ChatEvent, void, undefined> {
    return this.#main.chat(messages, options);
  }

  /** How many tokens of the conversation in the model's own session are cached. */
  length(): Promise<number> {
    return this.#main.length();
  }

  /** Forgets the conversation in the model's own session, ending the answer under way. */
  reset(): Promise<void> {
    return this.#main.reset();
  }

  /** Makes a session with caches of its own, which take GPU memory. */
  async session({ signal, ...options }: { context?: number; signal?: AbortSignal } = {}): Promise<Session> {
    checkContext(options.context);
    return new Session(
      this.#connection,
      await this.#connection.call("session", { model: this.#id, ...options }, { signal }),
    );
  }

  /**
   * Ends the answers under way; each ends with a "done" event of reason "cancelled", and the next that waits begins.
   */
  stop(): void {
    this.#connection.call("stop", { model: this.#id }).catch(() => {});
  }

  /** The text's token ids. Control tokens in it are plain text unless it is special. */
  async tokenize(
    text: string,
    { signal, ...options }: { special?: boolean; signal?: AbortSignal } = {},
  ): Promise<number[]> {
    return (await this.#connection.call("tokenize", { model: this.#id, text, ...options }, { signal })).tokens;
  }

  async detokenize(tokens: number[], { signal }: { signal?: AbortSignal } = {}): Promise<string> {
    return (await this.#connection.call("detokenize", { model: this.#id, tokens }, { signal })).text;
  }

  /** How many tokens a text has, or the prompt of a conversation. */
  async countTokens(input: string | Message[], options: CountOptions = {}): Promise<number> {
    const { system, signal, ...rest } = options;
    if (typeof input === "string") return (await this.tokenize(input, signal && { signal })).length;
    const said = copied(input);
    const messages: Message[] = system === undefined ? said : [{ role: "system", content: system }, ...said];
    const { media, messages: packed } = await pack(messages, signal);
    return (await this.#connection.call("count", { model: this.#id, messages: packed, ...rest }, { signal, media }))
      .tokens;
  }

  /**
   * Fails with "bad-argument" or "unsupported" where answers cannot be held to this form; the message names the keyword
   * and its place. The model keeps what it has compiled for the answer that is to come.
   */
  async checkFormat(format: ResponseFormat, { signal }: { signal?: AbortSignal } = {}): Promise<void> {
    const form = toForm(format);
    if (form) await this.#connection.call("checkForm", { model: this.#id, form }, { signal });
  }

  /**
   * Loads an adapter, without using it yet. Its matrices stay beside the model's
   * weights, so that adapters are switched and mixed without loading anything again.
   */
  async loadAdapter(
    source: AdapterSource,
    { name = nameOf(source), signal, request }: AdapterOptions = {},
  ): Promise<AdapterInfo> {
    const { adapters } = await this.#connection.call(
      "loadAdapter",
      { model: this.#id, name },
      { source: toWireAdapter(source, request), signal },
    );
    return adapters.find((adapter) => adapter.name === name)!;
  }

  /**
   * Answers with these adapters from now on, each by its weight, and with no others.
   * What sessions have cached is computed anew. Refused while an answer is under way.
   */
  async useAdapters(use: readonly AdapterWeight[]): Promise<AdapterInfo[]> {
    return (await this.#connection.call("useAdapters", { model: this.#id, use: [...use] })).adapters;
  }

  /** Answers as the model does by itself. The adapters stay loaded. */
  async clearAdapters(): Promise<void> {
    await this.useAdapters([]);
  }

  /** Forgets an adapter that is not in use. */
  async unloadAdapter(name: string): Promise<void> {
    await this.#connection.call("unloadAdapter", { model: this.#id, name });
  }

  /** The adapters that are loaded, by name. */
  async adapters(): Promise<AdapterInfo[]> {
    return (await this.#connection.call("adapters", { model: this.#id })).adapters;
  }

  /** @internal wire is what a training session talks to. */
  wire(): { connection: Connection; id: number } {
    return { connection: this.#connection, id: this.#id };
  }

  /**
   * Frees what images and recordings need. It is loaded when the first of them
   * comes, and again when another one does; those of a session that it has seen
   * are not encoded again.
   */
  async releaseTowers(): Promise<void> {
    await this.#connection.call("releaseTowers", { model: this.#id });
  }

  /** What the model and the worker's Go program hold, in bytes. */
  memory(): Promise<MemoryResult> {
    return this.#connection.call("memory", { model: this.#id });
  }

  /** Frees the GPU's memory and ends the worker. */
  async close(): Promise<void> {
    try {
      await this.#connection.call("close", { model: this.#id });
    } catch (error) {
      if (!["closed", "device-lost"].includes((error as GemwireError).code)) throw error;
    } finally {
      this.#connection.close();
    }
  }
}
