/** The graphics adapter that computes. */
export interface Adapter {
  name: string;
  vendor: string;
  driver: string;
  backend: string;
  kind: string;
  /** A kernel may take seconds to compile, each time a model is loaded. */
  slowCompiler?: boolean;
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
  /** Keys and values of one session. */
  cache: number;
  /** Work memory of one session. */
  activations: number;
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
  layers: number;
  vocab: number;
  /** The most tokens that the model was made for. */
  maxContext: number;
  /** Tokens that a session holds, prompt and answers together. */
  context: number;
  /** Bytes. */
  fileSize: number;
  plan?: Plan;
  /** What each token asks of the GPU. */
  dispatches?: number;
  adapter?: Adapter;
  limits?: Limits;
  features?: Features;
  /** Whether it can be given images. */
  images: boolean;
  /** Whether it can be given recordings. */
  audio: boolean;
}

/** How far loading is, in bytes; a total of 0 is not known. */
export interface LoadProgress {
  phase: "header" | "weights" | "kernels";
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

/** A piece of a message. The last two are OpenAI's forms; an address may also be a data URL. */
export type Part =
  | { type: "text"; text: string }
  | ImagePart
  | AudioPart
  | { type: "image_url"; image_url: { url: string; detail?: "auto" | "low" | "high" }; budget?: number }
  | { type: "input_audio"; input_audio: { /** Base64. */ data: string; format?: string }; split?: boolean };

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
  /** Images and recordings that were encoded: the session has not seen them before. */
  media?: number;
  /** What that took. */
  mediaMs?: number;
  answerTokens: number;
  /** That of images and recordings included. */
  prefillMs: number;
  decodeMs: number;
  /** Of decoding; 0 for answers of one token. */
  tokensPerSecond: number;
}

/** Why an answer ended. */
export type DoneReason = "stop" | "length" | "tool_calls" | "stop_string" | "cancelled";

/** A part of an answer. The last one is "done". */
export type ChatEvent =
  | { type: "media"; /** How far an image or a recording is encoded, before the prompt is read. */ kind: "image" | "audio"; done: number; total: number }
  | { type: "prefill"; done: number; total: number }
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "tool_call"; call: ToolCall }
  | { type: "malformed_call"; text: string; error: string }
  | { type: "done"; reason: DoneReason; /** The string that ended it. */ stop?: string; usage: Usage };

/** How an answer is made. What is left out of the sampling is as Gemma recommends (temperature 1, topK 64, topP 0.95). */
export interface ChatOptions {
  /** 0 is greedy: the most probable token, always. */
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  repetitionPenalty?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  /** The same seed gives the same answer on the same device. Without one, answers differ. */
  seed?: number;
  /** What the context leaves, if not given. */
  maxTokens?: number;
  /** Strings that end the answer. */
  stop?: string[];
  /** Let the model think before it answers. */
  thinking?: boolean;
  tools?: Tool[];
  /** Ends the answer with an error of code "cancelled"; Model.stop ends it with a "done" event. */
  signal?: AbortSignal;
}

/** What a conversation to be counted has besides its messages. */
export interface CountOptions {
  system?: string;
  tools?: Tool[];
  thinking?: boolean;
  signal?: AbortSignal;
}

/** One file. A string is a URL; "opfs" names a model of the store. */
export type FileSource = File | Blob | ArrayBuffer | URL | string | { opfs: string };

/**
 * Where a model comes from. One that is split over several files is a list of
 * them, or the address of any: NAME-00001-of-00003.gguf finds the others beside it.
 */
export type Source = FileSource | readonly FileSource[] | { builtin: "nano"; url?: string | URL };

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

export interface LoadOptions {
  /** A Dedicated Worker of the model's own (true), one given, or none (false): then the page does the work. */
  worker?: boolean | Worker;
  /** Where to compute: "auto" if not given. */
  device?: Device;
  /** Tokens that a session holds; more take more memory. 8192 if not given. */
  context?: number;
  /** The most GPU memory to use, in bytes. Embedding tables that do not fit stay in the file. */
  memoryBudget?: number;
  /** The file with the image and audio towers, where the model comes in two files. */
  mmproj?: FileSource;
  /** Which adapter to prefer: "high-performance" if not given. */
  powerPreference?: PowerPreference;
  signal?: AbortSignal;
  onProgress?: (progress: LoadProgress) => void;
  /** How a server is talked to, where the source is a URL. */
  request?: RequestOptions;
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
  features: { timestamps: boolean; subgroups: boolean; shaderF16: boolean; packedDot: boolean };
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
  seconds: number;
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
