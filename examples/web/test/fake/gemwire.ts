// A scripted model behind the interface of the npm package, for tests and pictures alone. A question chooses what
// happens, by its first word or, so that pictures look like life, by a phrase in it; what happens when a model is
// loaded is chosen by localStorage "fake" ("oom", "no-webgpu", "no-towers").
import type {
  ChatEvent,
  ChatOptions,
  DownloadOptions,
  AdapterInfo,
  GemwireError as RealError,
  ImportOptions,
  KVCache,
  LoadOptions,
  Message,
  ModelInfo,
  Plan,
  PlanResult,
  SelfTestProgress,
  SelfTestReport,
  Source,
  StoredModel,
  Support,
  Usage,
} from "../../../../bindings/wasm/npm/dist/index.js";
import { GemwireError } from "./error";
import { kept } from "./training";

export { settings } from "../../../../bindings/wasm/npm/src/settings.gen";
export { GemwireError } from "./error";
export { adapters, TrainingSession } from "./training";

/** What "gemwire/nano" has. */
export const nano: Source = { builtin: "nano", url: "nano.gguf" };

const script = () => (typeof localStorage === "undefined" ? "" : (localStorage.getItem("fake") ?? ""));

const wait = (ms: number, signal?: AbortSignal | null) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new GemwireError("cancelled", "cancelled"));
    });
  });

const planOf = (kvCache: KVCache): Plan => ({
  device: "Fake GPU",
  tensors: [],
  weights: 1_700_000_000,
  rows: 1_400_000_000,
  context: 8192,
  kvCache,
  cache: kvCache === "q8" ? 33_000_000 : 63_000_000,
  activations: 41_000_000,
  budget: 0,
});
const infoOf = (kvCache: KVCache): ModelInfo => ({
  name: "Scripted",
  device: "gpu",
  deviceName: "Fake GPU",
  template: "gemma4",
  layers: 35,
  vocab: 262144,
  maxContext: 131072,
  context: 8192,
  kvCache,
  fileSize: 3_349_516_256,
  plan: planOf(kvCache),
  images: true,
  audio: true,
});

const markdown = `## A heat pump, in short

It *moves* heat instead of making it, the way a **fridge** does. Three things matter:

1. a fluid that boils when it is cold outside,
2. a pump that presses it together, which makes it hot,
3. a valve that lets it cool down again.

| Outside | Heat for 1 kWh |
|---|---|
| 7 °C | 4.1 kWh |
| −7 °C | 2.6 kWh |

\`\`\`go
// efficiency is heat out over work in.
func efficiency(heat, work float64) float64 {
	return heat / work
}
\`\`\`

> Read more at https://example.org/heat-pumps, and mind the \`COP\`.
`;

const formulas = `A pump costs $500 to $900. Its best is $\\eta_c = \\frac{T_h}{T_h - T_c}$, so \\(T_h > T_c\\):

\\[
\\int_0^1 x^2 \\, dx = \\tfrac{1}{3}
\\]

This cannot be read: $\\frac{1$, and \`$x$\` is code.

| Planet, in the order of its distance | Mass of the Earth | Moons | Length of a year |
|---|---|---|---|
| Mercury | 0.055 | 0 | 88 days |
| Jupiter | 317.8 | 95 | 4,333 days |

שלום עולם
`;

const table = '[ {"name": "Mercury", "moons": 0}, {"name": "Jupiter", "moons": 95}, {"name": "Saturn", "moons": 146} ]';
const tree =
  '{ "title": "A trip", "days": [ {"place": "Vienna", "do": ["walk", "see the Prater"]}, {"place": "Graz", ' +
  '"do": []} ] }';

const calls = {
  "/clock": ["get_time", {}],
  "/sum": ["calculate", { expression: "6 * 7" }],
  "/weather": ["get_weather", { city: "Vienna" }],
} as const;

const phrases = [
  [/how closely/, "/budget"],
  [/in short/, "/md"],
  [/step by step/, "/think"],
  [/weather in/, "/weather"],
  [/bedtime story/, "/story"],
] as const;

/** What a question asks for: its first word, or what a phrase in it stands for. */
function commandOf(question: string): string {
  if (question.startsWith("/")) return question.split(/\s/, 1)[0] ?? "";
  return phrases.find(([phrase]) => phrase.test(question))?.[1] ?? "";
}

function wordsOf(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? [];
}

/** The text of a message, with its attachments named in brackets. */
function textOf(message: Message | undefined): string {
  const content = message?.content ?? "";
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ");
}

/** What the last image of the messages may take. */
function budgetOf(messages: Message[]): number {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const image = parts.findLast((part) => part.type === "image");
  return image?.type === "image" ? (image.budget ?? 280) : 0;
}

const story = (
  "Once upon a time, a lighthouse keeper named Ines found that her lamp had begun to hum. It hummed only when ships " +
  "were near, and only to those that were lost.\n\n" +
  "She wrote every tune down in a blue notebook, so that nobody would have to be lost twice. "
).repeat(8);

function textFor(command: string, question: string, messages: Message[]): string {
  switch (command) {
    case "/long":
      return "word ".repeat(600);
    case "/story":
      return story;
    case "/md":
      return markdown;
    case "/formulas":
      return formulas;
    case "/think":
      return question.startsWith("/")
        ? `You said: ${question}`
        : "At 2,600 revolutions a minute it turns **43.3 times** a second.";
    case "/budget":
      return `Looked with ${budgetOf(messages)} tokens.`;
    case "/system":
      return `My orders: ${textOf(messages.find(({ role }) => role === "system"))}`;
    default:
      return `You said: ${question}`;
  }
}

export class Model {
  readonly info: ModelInfo;
  readonly lost: Promise<RealError | GemwireError>;
  #lose: (error: GemwireError) => void = () => undefined;
  #answer = new AbortController();
  #open = true;
  #adapters: AdapterInfo[] = [];

  private constructor(name: string, kvCache: KVCache, assistant: string | undefined) {
    const info = { ...infoOf(kvCache), ...(assistant !== undefined && { assistant }) };
    this.info =
      script() === "no-webgpu"
        ? { ...info, name, device: "cpu", deviceName: "CPU, simd", fallback: "the browser offers no GPU" }
        : { ...info, name, images: script() !== "no-towers", audio: script() !== "no-towers" };
    this.lost = new Promise((resolve) => {
      this.#lose = resolve;
    });
  }

  static async load(source: Source, options: LoadOptions = {}): Promise<Model> {
    const name = typeof source === "object" && "opfs" in source ? source.opfs : "";
    for (let done = 0; done <= 4; done++) {
      options.onProgress?.({ phase: done === 0 ? "header" : "weights", done: done * 1e6, total: 4e6 });
      await wait(20, options.signal);
    }
    if (script() === "oom" && options.memoryBudget === undefined) {
      throw new GemwireError("out-of-memory", "The GPU has too little memory for 4.2 GB.", {
        advice: "Load it with a smaller plan.",
        suggestion: { context: 4096, memoryBudget: 1_900_000_000 },
      });
    }
    const assistant =
      typeof options.assistant === "object" && "opfs" in options.assistant ? options.assistant.opfs : undefined;
    if (assistant !== undefined && !assistant.includes("assistant"))
      throw new GemwireError("unsupported", `${assistant} is no assistant.`);
    const small = typeof source === "object" && "builtin" in source;
    if (script() === "no-webgpu" && !small)
      throw new GemwireError("no-webgpu", "The model is too large for the processor, and this browser offers no GPU.");
    // A header that is right, over weights that are not.
    if (name.includes("torn")) {
      await wait(20, options.signal);
      throw new GemwireError("bad-file", "gguf: tensor blk.3.ffn_up.weight: data ends at byte 4096");
    }
    if (script() === "slow") await wait(600_000, options.signal);
    return new Model(
      typeof source === "object" && "opfs" in source ? source.opfs : "Scripted",
      options.kvCache ?? "f16",
      assistant,
    );
  }

  static async selfTest(
    options: { signal?: AbortSignal; onProgress?: (progress: SelfTestProgress) => void; force?: boolean } = {},
  ): Promise<SelfTestReport> {
    for (let done = 0; done < 5; done++) {
      options.onProgress?.({ done, total: 5, name: "matmul Q4_K" });
      await wait(20, options.signal);
    }
    const failures =
      script() === "bad-kernels"
        ? [{ op: "attention", case: "heads 8", error: 0.4, tolerance: 0.002, kernels: ["attention.subgroups"] }]
        : [];
    return {
      version: "0.1.0",
      time: "2026-01-01T00:00:00Z",
      drivers: "fake 1.0",
      seconds: 2.4,
      cached: false,
      healthy: failures.length === 0,
      passed: 412,
      failed: failures.length,
      skipped: 3,
      info: { name: "Fake GPU", vendor: "fake", driver: "1.0", backend: "webgpu", kind: "discrete" },
      limits: {
        maxBufferSize: 0,
        maxStorageBindingSize: 0,
        maxUniformBindingSize: 0,
        maxStorageBuffersPerStage: 0,
        minStorageOffsetAlignment: 0,
        minUniformOffsetAlignment: 0,
        maxWorkgroupStorage: 0,
        maxWorkgroupInvocations: 0,
        maxWorkgroupSizeX: 0,
        maxWorkgroupsPerDimension: 0,
      },
      features: { timestamps: true, subgroups: true, shaderF16: false, packedDot: true, subgroupMatrix: false },
      ops: [
        { op: "matmul", passed: 260, failed: 0, skipped: 3, worst: 0.31 },
        { op: "attention", passed: 96, failed: failures.length, skipped: 0, worst: 0.12 },
        { op: "rmsNorm", passed: 56, failed: 0, skipped: 0, worst: 0.02 },
      ],
      failures,
      avoid: {
        features: { timestamps: false, subgroups: false, shaderF16: false, packedDot: false, subgroupMatrix: false },
      },
    };
  }

  async *chat(messages: Message[], options: ChatOptions = {}): AsyncGenerator<ChatEvent, void, undefined> {
    if (!this.#open) throw new GemwireError("closed", "the model is closed");
    this.#answer = new AbortController();
    const { signal } = this.#answer;
    const last = messages.at(-1);
    const question = textOf(messages.findLast(({ role }) => role === "user"));
    const promptTokens = messages.reduce((sum, message) => sum + wordsOf(textOf(message)).length + 4, 0);
    let answerTokens = 0;
    const usage = (): Usage => ({
      promptTokens,
      computedTokens: promptTokens,
      answerTokens,
      prefillMs: 12,
      decodeMs: answerTokens * 20,
      tokensPerSecond: 48.7,
    });
    for (const kind of ["image", "audio"] as const) {
      if (question.includes(`[${kind}]`)) yield { type: "media", kind, done: 0, total: 1 };
    }
    yield { type: "prefill", done: promptTokens, total: promptTokens };

    const command = commandOf(question);
    const call = Object.entries(calls).find(([word]) => command === word)?.[1];
    if (call && last?.role === "user") {
      yield {
        type: "tool_call",
        call: { id: "call_1", name: call[0], arguments: call[1] },
        ...(command === "/weather" ? { repairs: ["a } was missing"] } : {}),
      };
      yield { type: "done", reason: "tool_calls", usage: usage() };
      return;
    }
    if (command === "/lost") {
      const error = new GemwireError("device-lost", "The GPU was taken away.", {
        advice: "Reload the model to go on.",
      });
      this.#lose(error);
      throw error;
    }
    if (command === "/full")
      throw new GemwireError("context-full", "The conversation no longer fits the context.", {
        advice: "Start a new chat.",
      });
    if (options.thinking === true || command === "/think") {
      for (const word of wordsOf(
        "The question is simple. A minute has 60 seconds, so I divide 2,600 by 60, which is 43.3.",
      ))
        yield { type: "thinking", text: word };
    }
    const result = last?.role === "tool" ? `The tool says ${textOf(last)}.` : null;
    const used = this.#adapters
      .filter(({ weight }) => weight !== 0)
      .map(({ name, weight }) => `${weight} × ${name}: `)
      .join("");
    const formed = options.responseFormat && (command === "/tree" ? tree : table);
    const text = formed ?? used + (result ?? textFor(command, question, messages));
    for (const word of wordsOf(text)) {
      if (signal.aborted) {
        yield { type: "done", reason: "cancelled", usage: usage() };
        return;
      }
      answerTokens++;
      yield { type: "text", text: word };
      await wait(command === "/long" || command === "/story" ? 20 : 1, options.signal);
    }
    yield { type: "done", reason: "stop", usage: usage() };
  }

  checkFormat(format: { schema?: unknown }): Promise<void> {
    return JSON.stringify(format).includes('"sting"')
      ? Promise.reject(
          new GemwireError(
            "bad-argument",
            'grammar: cannot be read: at #/items/properties/name/type: "sting" is no type',
          ),
        )
      : Promise.resolve();
  }

  countTokens(input: string | Message[]): Promise<number> {
    const words = (text: string) => wordsOf(text).length;
    return Promise.resolve(
      typeof input === "string" ? words(input) : input.reduce((sum, message) => sum + words(textOf(message)) + 4, 0),
    );
  }

  stop(): void {
    this.#answer.abort();
  }

  adapters = () => Promise.resolve(this.#adapters);

  loadAdapter(_: unknown, { name = "" } = {}): Promise<AdapterInfo> {
    if (!kept.has(name)) throw new GemwireError("not-found", `there is no adapter ${name}`);
    if (name.includes("foreign"))
      throw new GemwireError(
        "bad-adapter",
        "The adapter was made for another model: blk.0.attn_q is 1536 wide there, and 256 here.",
      );
    const info = { name, weight: 0, parameters: 1000 };
    this.#adapters = [...this.#adapters, info];
    return Promise.resolve(info);
  }

  useAdapters(list: readonly { name: string; weight?: number }[]): Promise<AdapterInfo[]> {
    this.#adapters = this.#adapters.map((one) => {
      const use = list.find(({ name }) => name === one.name);
      return { ...one, weight: use ? (use.weight ?? 1) : 0 };
    });
    return Promise.resolve(this.#adapters);
  }

  clearAdapters = (): Promise<unknown> => this.useAdapters([]);

  unloadAdapter(name: string): Promise<void> {
    this.#adapters = this.#adapters.filter((one) => one.name !== name);
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#open = false;
    return Promise.resolve();
  }
}

const stored = new Map<string, StoredModel>();

export const store = {
  list: () => Promise.resolve([...stored.values()]),
  async download(url: string, options: DownloadOptions = {}): Promise<StoredModel> {
    const name = options.name ?? "model.gguf";
    const size = 100_000_000;
    let received = stored.get(name)?.received ?? 0;
    const model = () => ({ name, size, received, complete: received >= size, files: 1, url, modified: 0 });
    while (received < size) {
      await wait(50, options.signal);
      received = Math.min(size, received + 2_000_000);
      stored.set(name, model());
      options.onProgress?.({ done: received, total: size, resumed: 0 });
    }
    return model();
  },
  import(files: readonly File[], options: ImportOptions = {}): Promise<StoredModel> {
    const size = files.reduce((sum, file) => sum + file.size, 0);
    const model = {
      name: options.name ?? "model.gguf",
      size,
      received: size,
      complete: true,
      files: files.length,
      modified: 0,
    };
    stored.set(model.name, model);
    return Promise.resolve(model);
  },
  delete(name: string): Promise<void> {
    stored.delete(name);
    return Promise.resolve();
  },
  estimate: () => Promise.resolve({ usage: 120_000_000, quota: 60_000_000_000, persisted: true }),
  async plan(source: Source, options: LoadOptions = {}): Promise<PlanResult> {
    const shown = JSON.stringify(Array.isArray(source) ? (source as File[]).map(({ name }) => name) : source);
    await wait(20, options.signal);
    if (shown.includes("broken")) throw new GemwireError("bad-file", "gguf: header at byte 8: bad magic");
    if (shown.includes("away")) throw new GemwireError("network", "https://example.org/away.gguf cannot be reached");
    const plan = planOf(options.kvCache ?? "f16");
    return { fits: !shown.includes("huge"), plan: shown.includes("small") ? { ...plan, weights: 1e7, rows: 0 } : plan };
  },
};

export function support(): Promise<Support> {
  return Promise.resolve(
    script() === "no-webgpu"
      ? { webgpu: false, reason: "This browser has no WebGPU.", opfs: true }
      : { webgpu: true, opfs: true },
  );
}
