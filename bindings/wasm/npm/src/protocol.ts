// The one protocol of this package. A page sends requests to its worker and
// gets replies: any number of events, then a result or an error. Requests about
// models pass through to Go as JSON (bindings/wasm/engine/message.go has the
// same shapes; a test keeps them alike); those about files end in the worker.

import type { AnswerOptions, SamplingOptions } from "./settings.gen.js";
import type {
  Adapter,
  AdapterFormat,
  AdapterInfo,
  AdapterWeight,
  ChatEvent,
  DataOptions,
  DataPreview,
  DataReport,
  Device,
  Findings,
  KVCache,
  LoadProgress,
  Message,
  ModelInfo,
  Plan,
  PowerPreference,
  PreviewExample,
  RehearsalEvent,
  RequestOptions,
  SavedRun,
  SelfTestProgress,
  StepEvent,
  StoredAdapter,
  StoredModel,
  StoreProgress,
  StorageEstimate,
  Tool,
  TrainingPlan,
  TrainingSettings,
  Verdict,
} from "./types.js";

export type FailureCode =
  | "no-webgpu"
  | "out-of-memory"
  | "device-lost"
  | "cancelled"
  | "bad-file"
  | "bad-argument"
  | "unsupported"
  | "context-full"
  | "bad-media"
  | "bad-adapter"
  | "bad-data"
  | "diverged"
  | "network"
  | "no-ranges"
  | "changed"
  | "quota"
  | "not-found"
  | "busy"
  | "closed"
  | "internal";

/** A plan that fits, or that is at least smaller, or another device: options to load with. */
export interface Suggestion {
  device?: Device;
  context?: number;
  memoryBudget?: number;
}

export interface Failure {
  code: FailureCode;
  message: string;
  advice?: string;
  suggestion?: Suggestion;
}

/** WireFile is where one file's bytes are, as a message holds it. */
export type WireFile =
  | { kind: "url"; url: string; whole?: "model" | "adapter"; request?: RequestOptions }
  | { kind: "blob"; blob: Blob }
  | { kind: "buffer"; buffer: ArrayBuffer }
  | { kind: "opfs"; name: string }
  | { kind: "adapter"; name: string };

/** WireSource is all files of a model. One in OPFS may stand for several parts. */
export interface WireSource {
  parts: WireFile[];
  mmproj?: WireFile;
  assistant?: WireFile;
}

/** Media says what a model takes beside text. */
export interface Media {
  images: boolean;
  audio: boolean;
}

/** MediaRef says to which part of the messages a binary belongs, and what it holds if that is no file. */
export interface MediaRef {
  /** Of training data: which line, from 1. */
  example?: number;
  message: number;
  part: number;
  /** How errors call it. */
  name?: string;
  format?: "rgba" | "f32";
  width?: number;
  height?: number;
  rate?: number;
  channels?: number;
  /** Of a video's frames: their numbers in the whole. */
  indices?: number[];
  /** Of the whole video. */
  fps?: number;
}

/** WireMedium is an image, a recording or a video beside a request's messages. */
export interface WireMedium extends MediaRef {
  data: ArrayBuffer | ImageBitmap;
}

export interface OpenParams {
  device?: Device;
  /** How many of the sources are the text model's; one behind them is the projector. */
  parts?: number;
  /** The last source is an assistant's. */
  assistant?: boolean;
  context?: number;
  memoryBudget?: number;
  kvCache?: KVCache;
  powerPreference?: PowerPreference;
  /** What is known of the adapter. */
  verdict?: Verdict;
  /** Take kernels that were not examined. */
  unchecked?: boolean;
  textOnly?: boolean;
  smaller?: boolean;
}
export interface ModelParams {
  model: number;
}
export interface SessionParams {
  model: number;
  context?: number;
}
export interface SessionRef {
  session: number;
}
export interface OpenResult {
  model: number;
  session: SessionResult;
  info: Omit<ModelInfo, keyof Media>;
  media: Media;
}
export interface PlanResult {
  fits: boolean;
  plan: Plan;
  suggestion?: Suggestion;
}
export interface SessionResult {
  session: number;
  context: number;
  length: number;
}
export interface ChatParams extends Omit<SamplingOptions, "logitBias">, AnswerOptions {
  session: number;
  messages: Message[];
  media?: MediaRef[];
  tools?: Tool[];
  thinking?: boolean;
  form?: Form;
  calls?: CallParams;
  preserveThinking?: boolean;
  forget?: boolean;
  /** JSON has no infinity. */
  logitBias?: Record<number, number | "-Infinity">;
}
/** One of the first five, and how JSON is written. */
export interface Form {
  json?: boolean;
  schema?: string;
  regex?: string;
  choices?: string[];
  grammar?: string;
  spaced?: boolean;
  compact?: boolean;
  anyOrder?: boolean;
}
export interface CallParams {
  choice?: "auto" | "none" | "required" | "free";
  name?: string;
  single?: boolean;
}
export interface TokenizeParams {
  model: number;
  text: string;
  special?: boolean;
}
export interface TokensResult {
  tokens: number[];
}
export interface DetokenizeParams {
  model: number;
  tokens: number[];
}
export interface TextResult {
  text: string;
}
export interface FormParams {
  model: number;
  form: Form;
}
export interface CountParams {
  model: number;
  messages: Message[];
  media?: MediaRef[];
  tools?: Tool[];
  thinking?: boolean;
  preserveThinking?: boolean;
}
export interface CountResult {
  tokens: number;
}
export interface AdapterParams {
  model: number;
  name: string;
}
export interface UseAdaptersParams {
  model: number;
  use: AdapterWeight[];
}
export interface AdaptersResult {
  adapters: AdapterInfo[];
}
export interface ConvertParams {
  format: AdapterFormat;
  name?: string;
}
/** FileChunk is a piece of a file that Go writes; its bytes stand beside it. */
export interface FileChunk {
  file: string;
}
export interface PreviewParams {
  model: number;
  data: DataOptions;
  media?: MediaRef[];
  first?: number;
  count?: number;
}
export interface PrepareParams {
  model: number;
  data: DataOptions;
  settings: TrainingSettings;
  media?: MediaRef[];
  heldOut?: number;
  /** What is held out is the second binary. */
  heldOutData?: boolean;
  resume?: boolean;
}
export interface PrepareResult {
  run: number;
  step: number;
  plan: TrainingPlan;
  report: DataReport;
  settings: TrainingSettings;
}
export interface RunParams {
  run: number;
}
export interface ShowParams {
  run: number;
  first?: number;
  count?: number;
}
export interface ShowResult {
  examples: PreviewExample[];
}
export interface TrainParams {
  run: number;
  steps?: number;
}
export interface TrainResult {
  state: "steps" | "paused" | "finished" | "early-stop";
  step: number;
  loss: number;
  bestHeldOutLoss?: number;
  usesBest: boolean;
}
export interface PauseParams {
  run: number;
  now?: boolean;
}
export interface RunAdapterParams {
  run: number;
  format: AdapterFormat;
  name?: string;
  which?: "best" | "last";
}
export interface UseRunParams {
  run: number;
  name: string;
  weight?: number;
  which?: "best" | "last";
}
export interface CheckpointResult {
  step: number;
}
/** SaveParams say under which name a run's checkpoints are kept in OPFS. */
export interface SaveParams {
  run: number;
  name: string;
}
export interface ExamineParams {
  version: string;
  full?: boolean;
  powerPreference?: PowerPreference;
}
/** What a model and the worker's Go program hold, in bytes. */
export interface MemoryResult {
  /** Go's heap. The weights are not in it. */
  heap: number;
  /** What Go has taken from WebAssembly's memory. */
  system: number;
  /** On the GPU, by purpose. */
  gpu: Record<string, number> | null;
}
export interface CancelParams {
  target: number;
}
export type Nothing = Record<string, never>;

/** What each request takes, tells on the way, and gives. */
export interface Operations {
  // Answered by Go.
  open: { params: OpenParams; event: LoadProgress; result: OpenResult };
  plan: { params: OpenParams; event: LoadProgress; result: PlanResult };
  close: { params: ModelParams; event: never; result: Nothing };
  session: { params: SessionParams; event: never; result: SessionResult };
  sessionState: { params: SessionRef; event: never; result: SessionResult };
  reset: { params: SessionRef; event: never; result: Nothing };
  endSession: { params: SessionRef; event: never; result: Nothing };
  chat: { params: ChatParams; event: ChatEvent; result: Nothing };
  stop: { params: ModelParams; event: never; result: Nothing };
  tokenize: { params: TokenizeParams; event: never; result: TokensResult };
  detokenize: { params: DetokenizeParams; event: never; result: TextResult };
  count: { params: CountParams; event: never; result: CountResult };
  checkForm: { params: FormParams; event: never; result: Nothing };
  loadAdapter: { params: AdapterParams; event: never; result: AdaptersResult };
  useAdapters: { params: UseAdaptersParams; event: never; result: AdaptersResult };
  unloadAdapter: { params: AdapterParams; event: never; result: AdaptersResult };
  adapters: { params: ModelParams; event: never; result: AdaptersResult };
  convertAdapter: { params: ConvertParams; event: FileChunk; result: Nothing };
  previewData: { params: PreviewParams; event: never; result: DataPreview };
  prepareTraining: { params: PrepareParams; event: never; result: PrepareResult };
  showRun: { params: ShowParams; event: never; result: ShowResult };
  train: { params: TrainParams; event: RehearsalEvent | StepEvent; result: TrainResult };
  pauseTraining: { params: PauseParams; event: never; result: Nothing };
  runAdapter: { params: RunAdapterParams; event: FileChunk; result: Nothing };
  useRun: { params: UseRunParams; event: never; result: AdaptersResult };
  checkpoint: { params: RunParams; event: FileChunk; result: CheckpointResult };
  endTraining: { params: RunParams; event: never; result: Nothing };
  examine: { params: ExamineParams; event: SelfTestProgress; result: Verdict };
  memory: { params: ModelParams; event: never; result: MemoryResult };
  releaseTowers: { params: ModelParams; event: never; result: Nothing };
  cancel: { params: CancelParams; event: never; result: Nothing };
  // Answered by the worker.
  selfTest: {
    params: ExamineParams & { force: boolean };
    event: SelfTestProgress;
    result: { verdict: Verdict; cached: boolean };
  };
  storeList: { params: Nothing; event: never; result: StoredModel[] };
  storeDownload: {
    /** The files of one model, with the hash of each. */
    params: { urls: string[]; name: string; sha256?: string[]; request?: RequestOptions };
    event: StoreProgress;
    result: StoredModel;
  };
  storeImport: { params: { blobs: Blob[]; name: string }; event: StoreProgress; result: StoredModel };
  storeDelete: { params: { name: string }; event: never; result: Nothing };
  storeRename: { params: { from: string; to: string }; event: never; result: StoredModel };
  storeEstimate: { params: Nothing; event: never; result: StorageEstimate };
  adapter: { params: Nothing; event: never; result: Adapter | null };
  /** Before a run with a name is prepared, its data is put into OPFS; a name that is taken is refused. */
  runSave: {
    params: { name: string; model: string; prepare: PrepareParams };
    event: never;
    result: Nothing;
  };
  /** When it is prepared: its steps, and the bytes that its checkpoints will take. */
  runPlanned: { params: { name: string; steps: number; bytes: number }; event: never; result: Nothing };
  runResume: { params: { name: string; model: number }; event: never; result: PrepareResult };
  /** All steps that are left, with checkpoints where there is a name. */
  runSteps: {
    params: { run: number; name?: string; every?: number };
    event: RehearsalEvent | StepEvent | { type: "checkpoint"; step: number };
    result: TrainResult;
  };
  runCheckpoint: { params: SaveParams; event: never; result: CheckpointResult };
  runExport: { params: RunAdapterParams; event: never; result: { files: WrittenFile[] } };
  runKeep: { params: SaveParams & { which?: "best" | "last" }; event: never; result: StoredAdapter };
  runList: { params: Nothing; event: never; result: SavedRun[] };
  runDelete: { params: { name: string }; event: never; result: Nothing };
  adapterList: { params: Nothing; event: never; result: StoredAdapter[] };
  adapterImport: { params: { name: string }; event: never; result: StoredAdapter };
  adapterExport: { params: { name: string; format: AdapterFormat }; event: never; result: { files: WrittenFile[] } };
  adapterRename: { params: { from: string; to: string }; event: never; result: StoredAdapter };
  adapterDelete: { params: { name: string }; event: never; result: Nothing };
}

/** WrittenFile is a file as a message holds it. */
export interface WrittenFile {
  name: string;
  blob: Blob;
}

export type Op = keyof Operations;

/** PageRequest is what a page sends. */
export interface PageRequest<O extends Op = Op> {
  id: number;
  op: O;
  params: Operations[O]["params"];
  source?: WireSource;
  media?: WireMedium[];
  /** Training data, and what is held out where that is data of its own. */
  data?: Blob[];
}

/** WorkerReply is what a worker sends: one of event, result and error. */
export interface WorkerReply {
  id: number;
  event?: unknown;
  result?: unknown;
  error?: Failure;
  /** Set where the worker itself has ended; it answers nothing any more. */
  fatal?: Failure;
  /** Set where the GPU device has gone, and the models with it. */
  lost?: Failure;
  /** Answers no request. */
  notice?: Notice;
}

/** Notice tells what was found out about the GPU's kernels. A verdict goes no further than the worker. */
export interface Notice {
  type: "check" | "found" | "verdict";
  model?: number;
  done?: number;
  total?: number;
  findings?: Findings;
  verdict?: Verdict;
  powerPreference?: PowerPreference;
}

export type { Port } from "./port.js";
