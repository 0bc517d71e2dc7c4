// Training, scripted: losses fall, a step takes a moment, and what is kept stays in memory. The data chooses what
// happens: "diverge" in it ends a run with an error.
import type {
  DataPreview,
  DataReport,
  PreviewExample,
  SavedRun,
  StoredAdapter,
  TrainingData,
  TrainingEvent,
  TrainingOptions,
  TrainingPlan,
  TrainingResult,
} from "../../../../bindings/wasm/npm/dist/index.js";
import { GemwireError } from "./error";

/** What a step takes, in milliseconds. */
const stepTime = 15;
/** What a run makes up where it is asked to hold the model to something. */
const conversations = 100;

export const kept = new Map<string, StoredAdapter>();
const runs = new Map<string, SavedRun & { data: string; options: TrainingOptions }>();

const keep = (name: string): Promise<StoredAdapter> => {
  const adapter = { name, size: 786_432, modified: Date.now() };
  kept.set(name, adapter);
  return Promise.resolve(adapter);
};

export const adapters = {
  list: () => Promise.resolve([...kept.values()]),
  import: (files: readonly File[], { name = "adapter" } = {}) => {
    if (
      files.some((file) => file.name.endsWith(".json")) !== files.some((file) => file.name.endsWith(".safetensors"))
    ) {
      return Promise.reject(
        new GemwireError("bad-adapter", "one of PEFT's two files is missing", {
          advice: "Choose adapter_config.json and adapter_model.safetensors together.",
        }),
      );
    }
    return keep(name);
  },
  export: (name: string, { format = "peft" } = {}) => Promise.resolve(filesOf(name, format)),
  rename: (from: string, to: string) => {
    kept.delete(from);
    return keep(to);
  },
  delete: (name: string) => {
    kept.delete(name);
    return Promise.resolve();
  },
};

const filesOf = (name: string, format: string): File[] =>
  format === "gguf"
    ? [new File(["GGUF"], `${name}.gguf`)]
    : [new File(["{}"], "adapter_config.json"), new File(["weights"], "adapter_model.safetensors")];

interface Line {
  line: number;
  prompt: string;
  completion: string;
}

/** The lines that are questions with answers, and what is wrong with the others. */
function read(data: TrainingData): { lines: Line[]; bad: DataReport["bad"] } {
  const lines: Line[] = [];
  const bad: DataReport["bad"] = [];
  for (const [index, text] of (data as string).split("\n").entries()) {
    if (text.trim() === "") continue;
    try {
      const { prompt, completion, text: whole } = JSON.parse(text) as Partial<Record<string, string>>;
      if (completion === "") throw new Error("the completion is empty");
      lines.push({ line: index + 1, prompt: prompt ?? "", completion: completion ?? whole ?? "" });
    } catch (error) {
      bad.push({ line: index + 1, message: error instanceof Error ? error.message : "" });
    }
  }
  return { lines, bad };
}

const wordsOf = (text: string) => text.split(/\s+/).filter((word) => word !== "").length;

function previewOf(data: TrainingData, { maxLength = 2048, first = 0, count = 5 } = {}): DataPreview {
  const { lines, bad } = read(data);
  const examples = lines.map(({ line, prompt, completion }): PreviewExample => {
    const tokens = wordsOf(prompt) + wordsOf(completion) + 8;
    const pieces = [
      { text: `<bos><|turn>user\n${prompt}<turn|>\n<|turn>model\n`, target: false },
      { text: `${completion}<turn|>`, target: true },
    ];
    return {
      line,
      tokens: Math.min(tokens, maxLength),
      targets: wordsOf(completion) + 1,
      cut: Math.max(0, tokens - maxLength),
      heldOut: false,
      pieces,
    };
  });
  const sum = (of: (example: PreviewExample) => number) => examples.reduce((total, example) => total + of(example), 0);
  return {
    report: {
      examples: lines.length,
      heldOut: 0,
      heldOutLines: [],
      tokens: sum(({ tokens }) => tokens),
      targets: sum(({ targets }) => targets),
      bad,
      cut: examples.filter(({ cut }) => cut > 0).map(({ line, cut }) => ({ line, tokens: cut })),
    },
    examples: examples.slice(first, first + count),
  };
}

export class TrainingSession {
  readonly plan: TrainingPlan;
  readonly report: DataReport;
  step = 0;
  state = "ready";
  #goesOn = false;
  #end: ((reason: TrainingResult["reason"]) => void) | null = null;
  readonly #data: string;
  readonly #options: TrainingOptions;

  private constructor(data: string, options: TrainingOptions) {
    const { report } = previewOf(data, { maxLength: options.maxLength ?? 2048 });
    const part = (options.heldOut as number | undefined) ?? (report.examples < 500 ? 0 : 0.05);
    const heldOut = Math.floor(report.examples * part);
    const epochs = options.epochs ?? 3;
    const steps = epochs * Math.ceil((report.examples - heldOut) / (options.batchExamples ?? 8));
    this.#data = data;
    this.#options = options;
    const heldOutLines = Array.from({ length: heldOut }, (_, i) => i + 1);
    this.report = { ...report, examples: report.examples - heldOut, heldOut, heldOutLines };
    this.plan = {
      steps,
      epochs,
      warmup: Math.round(steps / 20),
      parameters: 12_288 * (options.rank ?? 16),
      bytes: 48_000_000,
      layers: 8,
      saved: 8,
      recomputed: 0,
      halves: false,
      rehearsed: 0,
    };
  }

  static preview(
    _: unknown,
    data: TrainingData,
    options: { maxLength?: number; first?: number; count?: number } = {},
  ): Promise<DataPreview> {
    return Promise.resolve(previewOf(data, options));
  }

  static prepare(_: unknown, data: string, options: TrainingOptions = {}): Promise<TrainingSession> {
    const { bad } = read(data);
    if (bad.length > 0 && options.badLines !== "skip")
      return Promise.reject(new GemwireError("bad-data", `line ${bad[0]?.line ?? 0}: ${bad[0]?.message ?? ""}`));
    return Promise.resolve(new TrainingSession(data, options));
  }

  static resume(
    _: unknown,
    name: string,
    { onEvent }: Pick<TrainingOptions, "onEvent"> = {},
  ): Promise<TrainingSession> {
    const run = runs.get(name);
    if (!run) return Promise.reject(new GemwireError("not-found", `there is no run ${name}`));
    const session = new TrainingSession(run.data, { ...run.options, ...(onEvent ? { onEvent } : {}) });
    session.step = run.step;
    return Promise.resolve(session);
  }

  static saved = (): Promise<SavedRun[]> => Promise.resolve([...runs.values()]);

  static deleteSaved(name: string): Promise<void> {
    runs.delete(name);
    return Promise.resolve();
  }

  async start(): Promise<TrainingResult> {
    const ended = new Promise<TrainingResult["reason"]>((resolve) => {
      this.#end = resolve;
    });
    const walked = this.#walk();
    const reason = await Promise.race([ended, walked]);
    this.state = "done";
    return { reason, steps: this.step, loss: this.#loss(), usesBest: false, seconds: (this.step * stepTime) / 1000 };
  }

  #halted = (): boolean => !this.#goesOn;

  #loss = (): number => 9 * Math.exp(-this.step / (this.plan.steps / 6)) + 0.01;

  async #walk(): Promise<"finished"> {
    this.#goesOn = true;
    this.state = "running";
    for (let done = 0; this.#options.keep && this.step === 0 && done <= conversations; done++) {
      this.#tell({ type: "rehearsal", done, total: conversations });
      await new Promise((resolve) => setTimeout(resolve, stepTime));
    }
    while (this.step < this.plan.steps) {
      await new Promise((resolve) => setTimeout(resolve, stepTime));
      if (this.#halted()) await new Promise(() => undefined);
      this.step++;
      if (this.#data.includes("diverge"))
        throw new GemwireError("diverged", "The loss at step 1 is no number.", {
          advice: "Use a lower learning rate.",
        });
      const { steps } = this.plan;
      const looked = this.report.heldOut > 0 && this.step % 5 === 0;
      this.#tell({
        type: "step",
        step: this.step,
        steps,
        epoch: Math.ceil((this.step * this.plan.epochs) / steps),
        loss: this.#loss(),
        learningRate: 1e-3,
        gradientNorm: 1,
        tokens: 90,
        milliseconds: stepTime,
        tokensPerSecond: 612.4,
        secondsLeft: ((steps - this.step) * stepTime) / 1000,
        memoryBytes: 131_000_000,
        ...(looked ? { heldOutLoss: this.#loss() * 1.2, best: true } : {}),
      });
    }
    return "finished";
  }

  #tell(event: TrainingEvent): void {
    this.#options.onEvent?.(event);
  }

  pause(): Promise<void> {
    this.#goesOn = false;
    this.state = "paused";
    const { name } = this.#options;
    if (name !== undefined) {
      runs.set(name, {
        name,
        model: "Scripted",
        step: this.step,
        steps: this.plan.steps,
        size: 1_000_000,
        modified: Date.now(),
        data: this.#data,
        options: this.#options,
      });
      this.#tell({ type: "checkpoint", step: this.step });
    }
    this.#tell({ type: "paused", step: this.step });
    return Promise.resolve();
  }

  resume(): void {
    void this.#walk().then((reason) => this.#end?.(reason));
  }

  stop(): Promise<unknown> {
    this.#goesOn = false;
    this.#end?.("stopped");
    return Promise.resolve();
  }

  keep = keep;

  export = ({ format = "peft" } = {}): Promise<File[]> => Promise.resolve(filesOf("adapter", format));

  close(): Promise<void> {
    this.#goesOn = false;
    if (this.state === "done" && this.#options.name !== undefined) runs.delete(this.#options.name);
    this.state = "closed";
    return Promise.resolve();
  }
}
