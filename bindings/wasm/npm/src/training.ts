import { toFiles } from "./adapters.js";
import type { Connection } from "./connection.js";
import { GemwireError } from "./error.js";
import type { Model } from "./model.js";
import type { PrepareParams, PrepareResult, TrainResult } from "./protocol.js";
import { Queue } from "./queue.js";
import { call } from "./store.js";
import { toWireData, type WireData } from "./training_data.js";
import type {
  AdapterFormat,
  AdapterInfo,
  DataOptions,
  DataPreview,
  DataReport,
  PreviewExample,
  PreviewOptions,
  SavedRun,
  StoredAdapter,
  TrainingData,
  TrainingEvent,
  TrainingOptions,
  TrainingPlan,
  TrainingResult,
  TrainingSettings,
  WhichAdapter,
} from "./types.js";

/** Where a run is: not begun, under way, paused, ended, ended by an error, or closed. */
export type TrainingState = "ready" | "running" | "paused" | "done" | "failed" | "closed";

type Listener = (event: TrainingEvent) => void;

/** Steps between two checkpoints, if nothing is said. */
const checkpointEvery = 50;
/** Bytes of checkpoints for each number of an adapter: itself and two moments, in the old one and the new one. */
const checkpointBytes = 2 * 3 * 4;

/**
 * A run that trains a LoRA adapter over a model's frozen weights, in the model's
 * own worker. The model answers meanwhile, more slowly, and trains where it
 * computes: on the GPU or on the CPU.
 */
export class TrainingSession implements AsyncIterable<TrainingEvent> {
  /** What the run takes, known before its first step. */
  get plan(): TrainingPlan {
    return this.#plan;
  }
  #plan: TrainingPlan;
  /** What was read of the data. */
  readonly report: DataReport;
  /** All settings, those that were left out filled in. */
  readonly settings: Required<TrainingSettings>;
  readonly #connection: Connection;
  readonly #model: number;
  readonly #run: number;
  readonly #saved: Saved | null;
  readonly #listeners = new Set<Listener>();
  readonly #ended = new Ending<TrainingResult>();
  #state: TrainingState = "ready";
  #step: number;
  #last: TrainResult | null = null;
  #stopping = false;
  #resting = new Ending<void>();
  #seconds = 0;
  /** Whether the adapter could not be kept: the checkpoint is all that there is of it. */
  #unkept = false;

  private constructor(
    { connection, id }: ReturnType<Model["wire"]>,
    made: PrepareResult,
    saved: Saved | null,
    onEvent?: Listener,
  ) {
    this.#connection = connection;
    this.#model = id;
    this.#run = made.run;
    this.#step = made.step;
    this.#saved = saved;
    this.#plan = made.plan;
    this.report = made.report;
    this.settings = { ...nothingSaid, ...made.settings } as Required<TrainingSettings>;
    if (onEvent) this.#listeners.add(onEvent);
  }

  /**
   * What the model will see of the data: which tokens it learns to say, which lines are bad, what is cut off. Bad lines
   * are told here, whatever the options say.
   */
  static async preview(model: Model, data: TrainingData, options: PreviewOptions = {}): Promise<DataPreview> {
    const { first, count, signal } = options;
    const { connection, id } = model.wire();
    const { blob, media } = await toWireData(data, signal);
    const params = {
      model: id,
      data: toData(options),
      ...(first !== undefined && { first }),
      ...(count !== undefined && { count }),
    };
    return connection.call("previewData", params, { data: [blob], media, signal });
  }

  /** Reads the data and plans the run; the first step is for start. A model has one run at a time. */
  static async prepare(model: Model, data: TrainingData, options: TrainingOptions = {}): Promise<TrainingSession> {
    const {
      heldOut,
      name,
      checkpointEvery: every = checkpointEvery,
      onEvent,
      signal,
      badLines: _,
      maxLength: __,
      allTurns: ___,
      ...settings
    } = options;
    const wire = await toWireData(data, signal);
    const held = heldOut === undefined || typeof heldOut === "number" ? null : await toWireData(heldOut, signal);
    check(wire, held, name, every);
    const { connection, id } = model.wire();
    const prepare: PrepareParams = {
      model: id,
      data: toData(options),
      settings: toSettings(settings),
      ...(held ? { heldOutData: true } : heldOut !== undefined && { heldOut: heldOut as number }),
    };
    const blobs = [wire.blob, ...(held ? [held.blob] : [])];
    const saved = name === undefined ? null : await Saved.open(name, every);
    let written = false;
    try {
      if (saved) {
        await connection.call("runSave", { name: saved.name, model: model.info.name, prepare }, { data: blobs });
        written = true;
      }
      const made = await connection.call("prepareTraining", prepare, { data: blobs, media: wire.media, signal });
      try {
        const { steps, parameters } = made.plan;
        if (saved) {
          const bytes = parameters * checkpointBytes;
          await connection.call("runPlanned", { name: saved.name, steps, bytes });
        }
        return new TrainingSession({ connection, id }, made, saved, onEvent);
      } catch (error) {
        await connection.call("endTraining", { run: made.run });
        throw error;
      }
    } catch (error) {
      // What was written is of no use; that it cannot be removed either would hide the reason.
      if (saved && written) await connection.call("runDelete", { name: saved.name }).catch(() => {});
      saved?.release();
      throw error;
    }
  }

  /** Goes on with a run of that name from its last checkpoint, on the same model. */
  static async resume(
    model: Model,
    name: string,
    options: Pick<TrainingOptions, "checkpointEvery" | "onEvent" | "signal"> = {},
  ): Promise<TrainingSession> {
    const saved = await Saved.open(name, options.checkpointEvery ?? checkpointEvery);
    try {
      const wire = model.wire();
      const made = await wire.connection.call("runResume", { name, model: wire.id }, { signal: options.signal });
      return new TrainingSession(wire, made, saved, options.onEvent);
    } catch (error) {
      saved.release();
      throw error;
    }
  }

  /** The runs that can be gone on with. */
  static saved(): Promise<SavedRun[]> {
    return call("runList", {});
  }

  /** Deletes a run's checkpoints and data. */
  static async deleteSaved(name: string): Promise<void> {
    const saved = await Saved.open(name, checkpointEvery);
    await call("runDelete", { name }).finally(() => saved.release());
  }

  get state(): TrainingState {
    return this.#state;
  }

  /** Steps made. */
  get step(): number {
    return this.#step;
  }

  /** Some of the run's examples as the model reads them; those that are held out stand behind the others. */
  async preview(options: Pick<PreviewOptions, "first" | "count"> = {}): Promise<PreviewExample[]> {
    return (await this.#connection.call("showRun", { run: this.#run, ...options })).examples;
  }

  /** Starts the run, or goes on with it, and resolves when it has ended. */
  start(): Promise<TrainingResult> {
    if (this.#state === "closed") throw new GemwireError("closed", "the training session is closed");
    this.resume();
    return this.#ended.promise;
  }

  /** Starts the run and tells of it. Leaving the loop pauses the run. */
  async *[Symbol.asyncIterator](): AsyncGenerator<TrainingEvent, void, undefined> {
    const queue = new Queue<TrainingEvent>();
    const listener = (event: TrainingEvent) => queue.push(event);
    this.#listeners.add(listener);
    try {
      this.start().then(
        () => queue.end(),
        (error) => queue.end(error),
      );
      yield* queue.drain();
    } finally {
      this.#listeners.delete(listener);
      await this.pause();
    }
  }

  /** Resolves when the step under way is made, and the checkpoint written. */
  async pause(): Promise<void> {
    if (this.#state !== "running") return;
    await this.#connection.call("pauseTraining", { run: this.#run });
    await this.#resting.promise;
  }

  /** Goes on with a run that is paused. */
  resume(): void {
    if (this.#state !== "ready" && this.#state !== "paused") return;
    if (this.#state === "paused") this.#tell({ type: "resumed", step: this.#step });
    this.#state = "running";
    this.#resting = new Ending();
    void this.#go();
  }

  /** Ends the run; the step under way is not made. What was learnt stays, for export, keep and use. */
  async stop(): Promise<TrainingResult> {
    if (this.#state === "running") {
      this.#stopping = true;
      await this.#connection.call("pauseTraining", { run: this.#run, now: true });
    } else if (this.#state === "ready" || this.#state === "paused") {
      this.#finish("stopped");
    }
    return this.#ended.promise;
  }

  async #go(): Promise<void> {
    const begun = performance.now();
    try {
      const every = this.#saved && { name: this.#saved.name, every: this.#saved.every };
      this.#last = await this.#connection.call(
        "runSteps",
        { run: this.#run, ...every },
        {
          onEvent: (event) => {
            if (event.type === "step") this.#step = event.step;
            if (event.type === "rehearsal" && event.plan) this.#plan = event.plan;
            this.#tell(event);
          },
        },
      );
      this.#seconds += (performance.now() - begun) / 1000;
      this.#rest(this.#last);
    } catch (error) {
      if (this.#state === "running") this.#state = "failed";
      this.#ended.reject(error);
    } finally {
      this.#resting.resolve();
    }
  }

  #rest({ state }: TrainResult): void {
    if (this.#state === "closed") return;
    if (state === "finished" || state === "early-stop") return this.#finish(state);
    if (this.#stopping) return this.#finish("stopped");
    this.#state = "paused";
    this.#tell({ type: "paused", step: this.#step });
  }

  #finish(reason: TrainingResult["reason"]): void {
    this.#state = "done";
    const { loss, bestHeldOutLoss, usesBest = false } = this.#last ?? {};
    const result: TrainingResult = {
      reason,
      steps: this.#step,
      usesBest,
      seconds: this.#seconds,
      ...(loss !== undefined && { loss }),
      ...(bestHeldOutLoss !== undefined && { bestHeldOutLoss }),
    };
    this.#tell({ type: "done", ...result });
    this.#ended.resolve(result);
  }

  #tell(event: TrainingEvent): void {
    for (const listener of [...this.#listeners]) listener(event);
  }

  /** The adapter's files: PEFT's two, or one of llama.cpp's. */
  async export({
    format = "peft",
    which,
    name = "adapter",
  }: WhichAdapter & { format?: AdapterFormat; name?: string } = {}): Promise<File[]> {
    return toFiles(
      (await this.#connection.call("runExport", { run: this.#run, format, name, ...(which && { which }) })).files,
    );
  }

  /** Keeps the adapter in OPFS, in place of one that has its name. */
  async keep(name: string, { which }: WhichAdapter = {}): Promise<StoredAdapter> {
    this.#unkept = true;
    const kept = await this.#connection.call("runKeep", { run: this.#run, name, ...(which && { which }) });
    this.#unkept = false;
    return kept;
  }

  /**
   * Makes the model answer with the adapter as it is now, and with no other: it is loaded under the name, in place of
   * one that has it.
   */
  async use(name: string, { which, weight }: WhichAdapter & { weight?: number } = {}): Promise<AdapterInfo> {
    const { adapters } = await this.#connection.call("useRun", {
      run: this.#run,
      name,
      ...(which && { which }),
      ...(weight !== undefined && { weight }),
    });
    return adapters.find((adapter) => adapter.name === name)!;
  }

  /** Writes a checkpoint now; for runs with a name. */
  async checkpoint(): Promise<void> {
    if (!this.#saved) throw new GemwireError("bad-argument", "a run without a name has no checkpoints");
    const { step } = await this.#connection.call("runCheckpoint", { run: this.#run, name: this.#saved.name });
    this.#tell({ type: "checkpoint", step });
  }

  /**
   * Frees what the run holds. Its checkpoints stay where it has not ended; of a run
   * that is done they are deleted, unless they are to be kept or keep has failed.
   */
  async close({
    keepCheckpoint = this.#state !== "done" || this.#unkept,
  }: { keepCheckpoint?: boolean } = {}): Promise<void> {
    if (this.#state === "closed") return;
    const running = this.#state === "running";
    this.#state = "closed";
    try {
      if (running && this.#saved) {
        await this.#connection.call("pauseTraining", { run: this.#run, now: true });
        await this.#resting.promise; // with its checkpoint
      }
      await this.#connection.call("endTraining", { run: this.#run });
      if (this.#saved && !keepCheckpoint) await this.#connection.call("runDelete", { name: this.#saved.name });
    } catch (error) {
      if (!["closed", "device-lost"].includes((error as GemwireError).code)) throw error;
    } finally {
      this.#ended.reject(new GemwireError("closed", "the training session is closed"));
      this.#saved?.release();
    }
  }
}

const nothingSaid: TrainingSettings = {
  layers: [],
  epochs: 0,
  steps: 0,
  minLearningRate: 0,
  warmup: 0,
  seed: 0,
  evaluateEvery: 0,
  patience: 0,
  recompute: false,
  memoryBudget: 0,
  keep: 0,
};

// As in Go, bytes are whole.
function toSettings(settings: TrainingSettings): TrainingSettings {
  return { ...settings, ...(settings.memoryBudget && { memoryBudget: Math.floor(settings.memoryBudget) }) };
}

function toData({ badLines, maxLength, allTurns }: DataOptions): DataOptions {
  return {
    ...(badLines && { badLines }),
    ...(maxLength !== undefined && { maxLength }),
    ...(allTurns && { allTurns }),
  };
}

function check(data: WireData, held: WireData | null, name: string | undefined, every: number): void {
  if (held?.media.length)
    throw new GemwireError(
      "unsupported",
      "examples that are held out cannot have images and recordings but in data URLs",
    );
  if (name !== undefined && data.media.length) {
    throw new GemwireError(
      "unsupported",
      "a run with a name cannot have images and recordings but in data URLs: checkpoints keep the JSONL alone",
    );
  }
  if (!(Number.isInteger(every) && every > 0))
    throw new GemwireError("bad-argument", `checkpointEvery is ${every}, wanted a number of steps`);
}

/** How long another page is waited for, in milliseconds. */
const longestHold = 2000;

/** Saved is the hold on a name in OPFS: no other session or tab may have it. */
class Saved {
  private constructor(
    readonly name: string,
    readonly every: number,
    readonly release: () => void,
  ) {}

  static open(name: string, every: number): Promise<Saved> {
    return new Promise((resolve, reject) => {
      // A page that has just been closed or reloaded may still hold it for a moment.
      const signal = AbortSignal.timeout(longestHold);
      navigator.locks
        .request(`gemwire training ${name}`, { signal }, () => {
          return new Promise<void>((release) => resolve(new Saved(name, every, release)));
        })
        .catch((error: unknown) =>
          reject(
            signal.aborted
              ? new GemwireError("busy", `the run ${JSON.stringify(name)} is under way, perhaps in another tab`, {
                  advice: "Close it there first.",
                })
              : error,
          ),
        );
    });
  }
}

/** Ending is a promise that is settled from outside, which nobody has to wait for. */
class Ending<T> {
  readonly promise: Promise<T>;
  resolve!: (value: T) => void;
  reject!: (error: unknown) => void;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.promise.catch(() => {});
  }
}
