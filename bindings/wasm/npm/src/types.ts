import type { Port } from "./port.js";
import type { AnswerOptions, SamplingOptions } from "./settings.gen.js";

/** The graphics adapter that computes. */
export interface Adapter {
  name: string;
  vendor: string;
  driver: string;
  backend: string;
  kind: string;
  /** A kernel may take seconds to compile, each time a model is loaded. */
  slowCompiler?: boolean;
  /** Never in a browser: the library that plays WebGPU elsewhere, and why one was not taken. */
  library?: string;
  libraryRefused?: string;
  /** Never in a browser: kernels may find workgroup memory that is not zero. */
  unzeroed?: boolean;
  /** The invocations of a subgroup, where they are known. */
  subgroupMin?: number;
  subgroupMax?: number;
  /** The matrix products that a subgroup computes together, where features.subgroupMatrix says that it does. */
  subgroupMatrices?: SubgroupMatrix[];
}

/** A size and type of D = A·B + C: A is m×k, B k×n, C and D m×n. */
export interface SubgroupMatrix {
  /** Of A and B: f32, f16, u32, i32, u8 or i8. */
  component: string;
  /** Of C and D. */
  result: string;
  m: number;
  n: number;
  k: number;
}

/** The device's limits in force; sizes are in bytes. */
export interface Limits {
  maxBufferSize: number;
  maxStorageBindingSize: number;
  maxUniformBindingSize: number;
  maxStorageBuffersPerStage: number;
  minStorageOffsetAlignment: number;
  minUniformOffsetAlignment: number;
  maxWorkgroupStorage: number;
  maxWorkgroupInvocations: number;
  maxWorkgroupSizeX: number;
  maxWorkgroupsPerDimension: number;
}

/** Optional abilities of the device. */
export interface Features {
  timestamps: boolean;
  subgroups: boolean;
  shaderF16: boolean;
  packedDot: boolean;
  subgroupMatrix: boolean;
}

/** Where one tensor lives. */
export interface PlanTensor {
  name: string;
  type: string;
  /** Bytes, where it lives. */
  bytes: number;
  /** Bindings that it takes on the GPU. */
  tiles: number;
  /** In GPU memory, or left in the file, of which a token's row is fetched. */
  where: "gpu" | "rows from the file" | "memory";
}

/** The residency plan: where each tensor lives, and the memory that takes, in bytes. */
export interface Plan {
  device: string;
  tensors: PlanTensor[];
  /** On the GPU. */
  weights: number;
  /** Left in the file, fetched by row. */
  rows: number;
  /** Tokens of a session. */
  context: number;
  /** Tokens of a prompt that are computed together on the GPU: fewer where memory is short. */
  chunk?: number;
  /** What keys and values are kept as. */
  kvCache: KVCache;
  /** Keys and values of one session. */
  cache: number;
  /** Copies of a part of the cache, with which a session goes back in its text; none where memory is short. */
  checkpoints?: number;
  /** Work memory of one session. */
  activations: number;
  /** What it takes beside that once it guesses tokens ahead, where that is usual on the device. */
  drafts?: number;
  /** Of an assistant, its weights; nothing without one. */
  assistant?: number;
  /** Of adapters in use, with the work memory that a session takes for them. */
  adapters?: number;
  /** Of a batch that answers many prompts at once, which a page has none of. */
  batch?: number;
  /** The bound that was given, 0 for none. */
  budget: number;
}

/** An open model. */
export interface ModelInfo {
  name: string;
  device: "gpu" | "cpu";
  deviceName: string;
  /** Why the CPU was taken, where it was not asked for: a sentence. */
  fallback?: string;
  /** Which of Gemma 4's chat templates it speaks. */
  template: string;
  /** Where its file brings another template, which is not used: a sentence. */
  templateNote?: string;
  layers: number;
  vocab: number;
  /** The most tokens that the model was made for. */
  maxContext: number;
  /** Tokens that a session holds, prompt and answers together. */
  context: number;
  /** What sessions keep keys and values as. */
  kvCache: KVCache;
  /** Bytes. */
  fileSize: number;
  plan?: Plan;
  /** What each token asks of the GPU. */
  dispatches?: number;
  /** The name of the draft model at its side. */
  assistant?: string;
  adapter?: Adapter;
  limits?: Limits;
  features?: Features;
  /** Whether it can be given images. */
  images: boolean;
  /** Whether it can be given recordings. */
  audio: boolean;
  /** What was found out about its kernels on the GPU, which ones were left out among that. */
  kernels?: Findings;
}

/** How far loading is, in bytes, or in kernels while those are checked; a total of 0 is not known. */
export interface LoadProgress {
  phase: "header" | "check" | "weights" | "kernels";
  done: number;
  total: number;
}

/** How many kernels are checked, of those that were not checked before. */
export interface CheckProgress {
  done: number;
  total: number;
}

/** An image: a file in any format that the browser shows, its address, or its pixels. */
export type ImageInput = Blob | URL | string | ImageBitmap | ImageData;

/** Sound without a file, such as a microphone gives it: one channel, or a list of them. */
export interface SoundSamples {
  /** −1 to 1. */
  samples: Float32Array | readonly Float32Array[];
  /** Samples a second. */
  sampleRate: number;
}

/** A recording: a file in any format that the browser plays, its address, or its samples. */
export type AudioInput = Blob | URL | string | AudioBuffer | SoundSamples;

/** Frames of a video that somebody else took out of it. */
export interface VideoFrames {
  /** In ascending order. */
  frames: readonly (ImageBitmap | ImageData | Blob | VideoFrame)[];
  /** Their numbers in the whole video; 0, 1, 2 … if not given. */
  indices?: readonly number[];
  /** How many frames a second the whole video has. */
  fps?: number;
}

/** A video: a file that the browser plays, an animated GIF, WebP or PNG, its address, or frames of it. */
export type VideoInput = Blob | URL | string | VideoFrames;

/** An image in a message. */
export interface ImagePart {
  type: "image";
  image: ImageInput;
  /** The most tokens that it may take, 70 to 1120; more show more detail. 280 if not given. */
  budget?: number;
}

/** A recording in a message, of at most 30 seconds. */
export interface AudioPart {
  type: "audio";
  audio: AudioInput;
  /** Take a longer one, of up to 15 minutes, in pieces; otherwise it is refused. */
  split?: boolean;
}

/** A video in a message: some of its frames, each behind its time. */
export interface VideoPart {
  type: "video";
  video: VideoInput;
  /** How many frames are taken at most, evenly chosen. 32 if not given. */
  frames?: number;
  /** How many frames a second it has. A browser does not tell, so 24 if not given. */
  fps?: number;
  /** The most tokens that a frame may take, 70 to 1120. 70 if not given. */
  budget?: number;
  /** Let the model hear its sound too, behind the frames. */
  sound?: boolean;
  /** Take longer sound, of up to 15 minutes, in pieces; otherwise it is refused. */
  split?: boolean;
}

/**
 * A piece of a message. The last three are OpenAI's forms, and video_url beside them; an address may also be a data
 * URL.
 */
export type Part =
  | { type: "text"; text: string }
  | ImagePart
  | AudioPart
  | VideoPart
  | { type: "image_url"; image_url: { url: string; detail?: "auto" | "low" | "high" }; budget?: number }
  | { type: "input_audio"; input_audio: { /** Base64. */ data: string; format?: string }; split?: boolean }
  | ({ type: "video_url"; video_url: { url: string } } & Omit<VideoPart, "type" | "video">);

/** A tool call in a message, in OpenAI's form. */
export interface MessageToolCall {
  id?: string;
  type?: "function";
  function: { name: string; /** JSON, as text or as it is. */ arguments: string | Record<string, unknown> };
}

/** One message of a conversation, in OpenAI's form. */
export interface Message {
  role: "system" | "developer" | "user" | "assistant" | "tool";
  content?: string | Part[] | null;
  /** What the assistant thought before its calls. */
  reasoning?: string;
  tool_calls?: MessageToolCall[];
  /** Of a tool's message: the call that it answers. */
  tool_call_id?: string;
  /** Of a tool's message: the function. */
  name?: string;
}

/** A function that the model may call, in OpenAI's form. */
export interface Tool {
  type: "function";
  function: {
    name: string;
    description?: string;
    /** JSON schema of an object. */
    parameters?: Record<string, unknown>;
    /** JSON schema of the result. */
    response?: Record<string, unknown>;
  };
}

/** A tool call of an answer. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: unknown;
}

/** Counts of an answer. */
export interface Usage {
  promptTokens: number;
  /** Of the prompt, those that were not cached. */
  computedTokens: number;
  /** Messages that were left out: see ChatOptions.forget. */
  forgotten?: number;
  /** Images and recordings that were encoded: the session has not seen them before. */
  media?: number;
  /** What that took. */
  mediaMs?: number;
  answerTokens: number;
  /** Of them, those that the response format left no choice of. */
  forced?: number;
  /** Tokens guessed ahead. */
  drafted?: number;
  /** Of them, those that the model chose. */
  draftsRight?: number;
  /** Of those guessed, the assistant's. */
  assisted?: number;
  /** Of the assistant's, those that the model chose. */
  assistedRight?: number;
  /** That of images and recordings included. */
  prefillMs: number;
  decodeMs: number;
  /** Of decoding; 0 for answers of one token. */
  tokensPerSecond: number;
}

/** Why an answer ended. */
export type DoneReason = "stop" | "length" | "tool_calls" | "stop_string" | "repetition" | "cancelled";

/** A token with the natural logarithm of its probability, under the model alone. */
export interface TokenLogProb {
  id: number;
  /** A character that several tokens make up is a replacement character (U+FFFD) in each of them. */
  text: string;
  logProb: number;
}

/** A token of an answer, with the most probable ones in its place, best first. */
export interface ChosenToken extends TokenLogProb {
  top: TokenLogProb[];
}

/** The tokens chosen since the event before, control tokens among them, where ChatOptions.logProbs asks for them. */
interface WithTokens {
  tokens?: ChosenToken[];
}

/**
 * A part of an answer. The last one is "done". A model may answer with nothing: "done" then has the reason "stop", and
 * no text, call or malformed call came before it.
 */
export type ChatEvent =
  | {
      /** Comes first, where the conversation outgrew the context: see ChatOptions.forget. */ type: "forgotten";
      /** How many of the oldest messages were left out. */
      messages: number;
      /** How many the model still knows, system text among them. */
      known: number;
    }
  | {
      type: "media";
      /** How far an image or a recording is encoded, before the prompt is read. */ kind: "image" | "audio" | "video";
      done: number;
      total: number;
    }
  | { type: "prefill"; done: number; total: number }
  | ({ type: "text"; text: string } & WithTokens)
  | ({ type: "thinking"; text: string } & WithTokens)
  | ({
      type: "tool_call";
      call: ToolCall;
      /** What had to be mended of a call that was not quite in the model's own form. */ repairs?: string[];
    } & WithTokens)
  | ({ type: "malformed_call"; text: string; error: string } & WithTokens)
  | ({
      type: "done";
      reason: DoneReason;
      /** The string that ended it. */ stop?: string;
      /** It was cut within a tool call, of which nothing is kept. */ inCall?: true;
      usage: Usage;
    } & WithTokens);

/** A JSON schema, or a schema of a library that makes a JSON schema of it: Zod, ArkType, Standard JSON Schema. */
export type SchemaSource =
  | Readonly<Record<string, unknown>>
  | boolean
  | { readonly "~standard": object }
  | { toJSONSchema(...args: never[]): object }
  | { toJsonSchema(): object };

/** How JSON is written: with a space behind commas and colons, in the schema's order, unless these say otherwise. */
export interface JsonStyle {
  /** Let the model put spaces and line breaks into its JSON as it likes. */
  spaced?: boolean;
  /** Write JSON without spaces, for fewer tokens. */
  compact?: boolean;
  /** Let properties come in any order. */
  anyOrder?: boolean;
}

/**
 * What an answer must look like. It is kept by choosing among the tokens that fit alone; what cannot be
 * kept is refused. A thought stays free, and comes before. An answer that maxTokens or stop ends may be cut
 * short. A schema of a library can stand for the whole.
 */
export type ResponseFormat =
  | { type: "text" }
  | ({ type: "json_object" } & JsonStyle)
  | ({ type: "json_schema"; schema: SchemaSource } & JsonStyle)
  | ({ type: "json_schema"; json_schema: { name?: string; schema?: SchemaSource } } & JsonStyle)
  /** The whole answer matches it; RE2's syntax, without slashes around. */
  | { type: "regex"; regex: string }
  | { type: "choice"; choices: readonly string[] }
  /** In llama.cpp's notation (GBNF), from the rule root on. */
  | { type: "grammar"; grammar: string }
  | { readonly "~standard": object; readonly type?: never };

/**
 * Which tools an answer calls: as the model likes ("auto"), none, at least one ("required"), or this one.
 * Calls fit what the tools declare, unless they are "free".
 */
export type ToolChoice = "auto" | "none" | "required" | "free" | { name: string };

/** How an answer is made. */
export interface ChatOptions extends SamplingOptions, AnswerOptions {
  /** Let the model think before it answers. */
  thinking?: boolean;
  /** Keep what it thought before the tool calls of earlier turns in the prompt. */
  preserveThinking?: boolean;
  /**
   * Leave out the oldest turns of a conversation where their room is needed, instead of failing with "context-full".
   * System text, tools and the last question stay. A "forgotten" event tells of it.
   */
  forget?: boolean;
  tools?: Tool[];
  /** "auto" if not given. */
  toolChoice?: ToolChoice;
  /** Whether one answer may call several tools; true if not given. */
  parallelToolCalls?: boolean;
  /** With one, an answer calls no tools, unless toolChoice is "required" or names one: then it calls first. */
  responseFormat?: ResponseFormat;
  /** Ends the answer with an error of code "cancelled"; Model.stop ends it with a "done" event. */
  signal?: AbortSignal;
}

/** What a conversation to be counted has besides its messages. */
export interface CountOptions {
  system?: string;
  tools?: Tool[];
  thinking?: boolean;
  preserveThinking?: boolean;
  signal?: AbortSignal;
}

/** One file. A string is a URL; "opfs" names a model of the store. */
export type FileSource = File | Blob | ArrayBuffer | URL | string | { opfs: string };

/**
 * Where a model comes from; the last is the built-in model of "gemwire/nano". One that is split over several files is a
 * list of them, or the address of any: NAME-00001-of-00003.gguf finds the others beside it.
 */
export type Source = FileSource | readonly FileSource[] | { builtin: "nano"; url: string | URL };

/** How a server is talked to. */
export interface RequestOptions {
  /** Sent with each request, such as Authorization. */
  headers?: Record<string, string>;
  credentials?: RequestCredentials;
  /** How often a request is tried again in a row without getting on (5). */
  retries?: number;
  /** The pause before the second retry, in milliseconds, doubled for each further one up to 30 s (500). */
  backoff?: number;
  /** How long a server may send nothing, in milliseconds (30000). */
  stall?: number;
}

/** Speed or the battery, where there are several adapters. */
export type PowerPreference = "high-performance" | "low-power";

/**
 * Where a model is computed. "auto" is the GPU; or the CPU, for models of up to
 * 1 GB, where the browser offers no GPU or one that software plays:
 * `info.fallback` tells why.
 */
export type Device = "auto" | "gpu" | "cpu";

/** What sessions keep keys and values as: float16 (float32 on the CPU), or 8 bits. */
export type KVCache = "f16" | "q8";

/** `serve` of "gemwire/worker": answers in the page's own thread what a worker would answer. */
export type Serve = (port: Port) => void;

export interface LoadOptions {
  /**
   * A Dedicated Worker of the model's own (true), one given, or `serve` of "gemwire/worker": then the page does the
   * work.
   */
  worker?: true | Worker | Serve;
  /** Where to compute: "auto" if not given. */
  device?: Device;
  /** Tokens that a session holds; more take more memory. 8192 if not given. */
  context?: number;
  /** The most GPU memory to use, in bytes. Embedding tables that do not fit stay in the file. */
  memoryBudget?: number;
  /** What sessions keep keys and values as: "f16" if not given. "q8" takes about half of the memory. */
  kvCache?: KVCache;
  /** The file with the image and audio towers, where the model comes in two files. */
  mmproj?: FileSource;
  /**
   * The file of an assistant made for the model, which guesses what it will say: answers
   * stay what they are, and come quicker where the guesses are good. See ChatOptions.drafts.
   */
  assistant?: FileSource;
  /** Which adapter to prefer: "high-performance" if not given. */
  powerPreference?: PowerPreference;
  signal?: AbortSignal;
  onProgress?: (progress: LoadProgress) => void;
  /**
   * Whether the kernels that the model takes are checked against the CPU, the first time
   * that this browser takes them on this GPU: true if not given. It takes seconds, and
   * what is found out is kept in the browser's storage. Kernels that compute wrongly are left out.
   */
  checkKernels?: boolean;
  /** How many kernels are checked: while the model loads, and when images, adapters or training take new ones. */
  onCheck?: (progress: CheckProgress) => void;
  /** Hears which kernels are left out, since they compute wrongly here: others do their work, more slowly. */
  onLeftOut?: (kernels: LeftOut[]) => void;
  /** How a server is talked to, where the source is a URL. */
  request?: RequestOptions;
}

/**
 * Where an adapter comes from: PEFT's two files (adapter_config.json and
 * adapter_model.safetensors), llama.cpp's one, the address of that one or of the
 * folder with the two (which ends in a slash), or the name of one that is kept here.
 */
export type AdapterSource = Blob | readonly Blob[] | URL | string | { opfs: string };

/** An adapter that a model has loaded. */
export interface AdapterInfo {
  name: string;
  /** How much of it is in use: 1 is what it was trained as, 0 where it is not. */
  weight: number;
  /** Numbers that it holds. */
  parameters: number;
}

/** How much of a loaded adapter is to be used. */
export interface AdapterWeight {
  name: string;
  /** 1 if not given. */
  weight?: number;
}

export interface AdapterOptions {
  /** How it is called; after its file or folder if not given. */
  name?: string;
  signal?: AbortSignal;
  /** How a server is talked to, where the source is an address. */
  request?: RequestOptions;
}

/** An adapter that is kept in OPFS. */
export interface StoredAdapter {
  name: string;
  /** Bytes. */
  size: number;
  /** Milliseconds since 1970. */
  modified: number;
}

/** PEFT's two files, or llama.cpp's one. */
export type AdapterFormat = "peft" | "gguf";

/**
 * One example, as a line of JSONL holds it: a question and its answer, a
 * conversation that ends with the answer to learn (in OpenAI's form, or in
 * ShareGPT's), or a text of which every word is learnt.
 */
export type TrainingExample =
  | { prompt: string; completion: string; system?: string }
  | { messages: Message[]; tools?: Tool[]; system?: string; enable_thinking?: boolean }
  | { conversations: { from: string; value: string }[]; system?: string }
  | { text: string };

/**
 * JSONL, as text or as a file, or the examples themselves, whose messages may hold images and recordings as in a chat.
 */
export type TrainingData = string | Blob | readonly TrainingExample[];

/** How data becomes examples. */
export interface DataOptions {
  /** Bad lines are an error that names them ("refuse"), or are passed over and told ("skip"). "refuse" if not given. */
  badLines?: "refuse" | "skip";
  /** Examples are cut off after so many tokens; 0 means never. 2048 if not given. */
  maxLength?: number;
  /** Learn every answer of a conversation, not only the last. */
  allTurns?: boolean;
}

/** A matrix of a layer that an adapter can change. */
export type TrainingTarget = "q" | "k" | "v" | "output" | "gate" | "up" | "down";

/** What is trained and how. */
export interface TrainingSettings {
  /** Of the matrices that are trained: 16 if not given. */
  rank?: number;
  /** They count alpha / rank: twice the rank if not given. */
  alpha?: number;
  /** All if not given. */
  targets?: TrainingTarget[];
  /** Which layers, from 0: all if not given. */
  layers?: number[];
  /** Times through the examples: if neither this nor steps is given 3, or as many up to 100 as make 400 steps. */
  epochs?: number;
  /** Steps, however many epochs that is. */
  steps?: number;
  /** The highest rate: 2e-4 if not given, more for models that are narrower than 1536. */
  learningRate?: number;
  /** How the rate goes on after the warm-up: "cosine" if not given. */
  schedule?: "constant" | "linear" | "cosine" | "cosine-restarts";
  /** Where a falling rate ends: 0 if not given. */
  minLearningRate?: number;
  /** How often "cosine-restarts" falls: 1 if not given. */
  restarts?: number;
  /** Steps over which the rate rises: a twentieth of all if not given. */
  warmup?: number;
  /** Examples that are computed together at most: a tenth of all if not given, 1 to 8; 8 if steps are given. */
  batchExamples?: number;
  /** And tokens, unless one example has more: 2048 if not given. */
  batchTokens?: number;
  /** Batches to a step: 1 if not given. */
  accumulate?: number;
  /** 0.01 if not given. */
  weightDecay?: number;
  /** How long a gradient may be: 1 if not given, 0 for any length. */
  clip?: number;
  /**
   * The part of a question's words that is left out or replaced, by chance, each time
   * that an example is seen again after the third, so that answers hang less on how is
   * asked. Words that the answer says stay. 0.4 if not given; with 0 all stay.
   */
  wordDropout?: number;
  /** The same seed gives the same run. */
  seed?: number;
  /** Steps between two looks at the examples that are held out: at the end of each epoch if not given. */
  evaluateEvery?: number;
  /** Stop after so many looks in a row that were no better, and give the best adapter. */
  patience?: number;
  /**
   * Compute all layers again on the way back instead of keeping their values; otherwise that is done where memory is
   * short.
   */
  recompute?: boolean;
  /**
   * How what a layer computes waits for the way back, on a GPU: as float32, as float16
   * in half the memory, or as float16 where memory is short ("auto", if not given).
   */
  precision?: "auto" | "f32" | "f16";
  /**
   * Bytes that the run may take beside the weights: as many as there are if not given.
   * To keep to them, values wait as float16, layers are computed again, and steps take
   * fewer examples, in this order.
   */
  memoryBudget?: number;
  /**
   * Hold the model to so many conversations that it makes up before the first step,
   * so that it keeps what it knows; -1 for as many as suit it (200, or 50 of large
   * models). None if not given. Making them up takes a while, and steps take longer.
   */
  keep?: number;
}

export interface TrainingOptions extends TrainingSettings, DataOptions {
  /**
   * A part of the lines (0 to 1), or data of its own: 0.05 if not given, none of fewer than 500 lines. What is held out
   * is not learned.
   */
  heldOut?: number | TrainingData;
  /** Keep checkpoints in OPFS under this name, with the data, so that the run can go on after a reload or a crash. */
  name?: string;
  /** Steps between two checkpoints: 50 if not given. There is one at each pause and at the end, too. */
  checkpointEvery?: number;
  /** Hears what the iteration over the session hears. */
  onEvent?: (event: TrainingEvent) => void;
  /** Ends the preparation. */
  signal?: AbortSignal;
}

/** What was read of training data. */
export interface DataReport {
  examples: number;
  heldOut: number;
  /**
   * The lines of the data that are held out, from 1; the first thousand. None where what is held out is data of its
   * own.
   */
  heldOutLines: number[];
  /** Of an epoch. */
  tokens: number;
  /** Those of them that the model learns to say. */
  targets: number;
  /** Lines that were passed over, counted from 1; the first thousand. */
  bad: { line: number; message: string }[];
  /** Examples that lost their ends, and how many tokens; the first thousand. */
  cut: { line: number; tokens: number }[];
}

/** An example as the model reads it. */
export interface PreviewExample {
  line: number;
  tokens: number;
  /** Those of them that the model learns to say. */
  targets: number;
  /** Tokens that were cut off. */
  cut: number;
  heldOut: boolean;
  /** Its text, control tokens included, with what the model learns to say apart. */
  pieces: { text: string; target: boolean }[];
}

export interface PreviewOptions extends DataOptions {
  /** Which examples to show: from 0 on if not given. */
  first?: number;
  /** How many of them: 5 if not given, 100 at most. */
  count?: number;
  signal?: AbortSignal;
}

/** What a model sees of training data. */
export interface DataPreview {
  report: DataReport;
  examples: PreviewExample[];
}

/** What a run takes. */
export interface TrainingPlan {
  steps: number;
  /** 0 where the steps were given. */
  epochs: number;
  warmup: number;
  /** Numbers of the adapter. */
  parameters: number;
  /** Bytes beside the weights, at most; 0 where a batch does not fit, which the first step says with its reason. */
  bytes: number;
  layers: number;
  /** Layers whose activations are saved for the backward pass. */
  saved: number;
  /** Layers that are computed again for it. */
  recomputed: number;
  /** Saved activations are float16. */
  halves: boolean;
  /** Conversations that the model is held to: 0 before it has made them up. */
  rehearsed: number;
}

/** How many conversations the model has made up, before the first step of a run with `keep`. */
export interface RehearsalEvent {
  type: "rehearsal";
  done: number;
  total: number;
  /** Of the last one: what the run takes with them. */
  plan?: TrainingPlan;
}

/** A step that was made. */
export interface StepEvent {
  type: "step";
  /** From 1. */
  step: number;
  steps: number;
  /** From 1. */
  epoch: number;
  /** The mean over the tokens that are learnt. */
  loss: number;
  learningRate: number;
  /** Before clipping. */
  gradientNorm: number;
  tokens: number;
  milliseconds: number;
  tokensPerSecond: number;
  secondsLeft: number;
  /** Bytes that the model and the run hold: on the GPU, or of WebAssembly's memory. */
  memoryBytes: number;
  /** Where the examples that are held out were looked at after this step. */
  heldOutLoss?: number;
  /** That loss is the least so far. */
  best?: boolean;
  /** How far the model has moved from what it is held to. */
  divergence?: number;
}

/** How a run has ended. */
export interface TrainingResult {
  /** All steps were made; what is held out became no better; or stop was called. */
  reason: "finished" | "early-stop" | "stopped";
  /** Steps made. */
  steps: number;
  /** Of the last step; absent where none was made since the session began. */
  loss?: number;
  bestHeldOutLoss?: number;
  /** With a patience: the adapter is the best one, not the last. */
  usesBest: boolean;
  /** Of computing, pauses left out. */
  seconds: number;
}

/** What a run tells. The last event is "done". */
export type TrainingEvent =
  | RehearsalEvent
  | StepEvent
  | { type: "checkpoint"; step: number }
  | { type: "paused"; step: number }
  | { type: "resumed"; step: number }
  | ({ type: "done" } & TrainingResult);

/** A run that is kept in OPFS. */
export interface SavedRun {
  name: string;
  /** The model that it was with. */
  model: string;
  /** Steps made, at the last checkpoint. */
  step: number;
  steps: number;
  /** Bytes. */
  size: number;
  /** Milliseconds since 1970. */
  modified: number;
}

/** Which adapter of a run: the best where there is one, if not given. */
export interface WhichAdapter {
  which?: "best" | "last";
}

/** What is kept of a model in OPFS. */
export interface StoredModel {
  name: string;
  /** Bytes of the whole file, 0 where the server has not told. */
  size: number;
  /** Bytes that are here. */
  received: number;
  /** False for a download that has not ended: it cannot be loaded, and download goes on with it. */
  complete: boolean;
  /** How many files it is split over. */
  files: number;
  /** Of the first file. */
  url?: string;
  /** Of a whole model in one file. */
  sha256?: string;
  /** Milliseconds since 1970. */
  modified: number;
}

/** How far a download or import is. */
export interface StoreProgress {
  /** Bytes that are here, those of earlier attempts included. */
  done: number;
  /** 0 where the server has not told. */
  total: number;
  /** Bytes that an earlier attempt had left. */
  resumed: number;
}

export interface DownloadOptions {
  /** How the model is called here; the last part of the URL if not given. */
  name?: string;
  /** What the file's SHA-256 must be, in hex; one for each file of a model that is split. */
  sha256?: string | readonly string[];
  signal?: AbortSignal;
  onProgress?: (progress: StoreProgress) => void;
  request?: RequestOptions;
}

export interface ImportOptions {
  name?: string;
  signal?: AbortSignal;
  onProgress?: (progress: StoreProgress) => void;
}

export interface StorageEstimate {
  /** Bytes. */
  usage: number;
  quota: number;
  /** Whether the browser has promised not to delete by itself. */
  persisted: boolean;
}

export interface SelfTestProgress {
  done: number;
  total: number;
  name: string;
}

/** Avoid is what the self-test found to compute wrongly. */
export interface Avoid {
  features: {
    timestamps: boolean;
    subgroups: boolean;
    shaderF16: boolean;
    packedDot: boolean;
    subgroupMatrix: boolean;
  };
  kernels?: string[];
}

export interface SelfTestOptions {
  signal?: AbortSignal;
  onProgress?: (progress: SelfTestProgress) => void;
  /** Test again, though a verdict is kept. */
  force?: boolean;
  /** Run all cases, also where compiling is slow and that takes minutes. */
  full?: boolean;
  /** Which adapter to test, as in LoadOptions. */
  powerPreference?: PowerPreference;
}

/** What the self-test found out about one op. */
export interface OpVerdict {
  op: string;
  passed: number;
  failed: number;
  /** Cases that the device has too little memory for. */
  skipped: number;
  /** The largest error of those that passed, over what was allowed. */
  worst: number;
}

/** A case that came out wrong. */
export interface SelfTestFailure {
  op: string;
  case: string;
  /** Relative; 0 where there is a message instead. */
  error: number;
  tolerance: number;
  message?: string;
  /** Features without which it comes out right. */
  with?: string[];
  /** Kernels that are avoided from now on. */
  kernels?: string[];
}

/** What was found out about an adapter. */
export interface Verdict {
  version: string;
  time: string;
  info: Adapter;
  drivers: string;
  /** Only some cases were run, since compiling is slow here. */
  brief?: boolean;
  limits: Limits;
  features: Features;
  ops: OpVerdict[];
  failures: SelfTestFailure[] | null;
  avoid: Avoid;
  /** Kernels that came out right. */
  right?: Kernel[];
  seconds: number;
}

/** A kernel: by its whole name, and by its form, which leaves sizes out. */
export interface Kernel {
  name: string;
  form: string;
}

/** What was found out about the kernels that a model takes. */
export interface Findings {
  /** How many it takes: each is right on its cases. */
  kernels: number;
  /** Of these, how many were examined now. */
  new: number;
  seconds: number;
  /** Kernels that came out wrong, and that others stand in for. */
  leftOut?: LeftOut[];
  /** Why the next opening examines them again, if it does. */
  notKept?: string;
}

/** A kernel that is not taken, and why. */
export interface LeftOut {
  kernel: string;
  reason: string;
}

/** The self-test's verdict, and what it means. */
export interface SelfTestReport extends Verdict {
  failures: SelfTestFailure[];
  /** Every kernel computes as its twin on the CPU does. */
  healthy: boolean;
  passed: number;
  failed: number;
  skipped: number;
  /** It was kept from an earlier run on this adapter and browser. */
  cached: boolean;
}

/** What this browser can do. */
export interface Support {
  webgpu: boolean;
  /** Why not, as a sentence for the user. */
  reason?: string;
  adapter?: { vendor: string; architecture: string; device: string; description: string; fallback: boolean };
  /** Models can be kept in the browser's storage. */
  opfs: boolean;
}
