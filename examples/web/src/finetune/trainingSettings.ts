import type { TrainingOptions } from "gemwire";
import { create } from "zustand";
import { persist } from "zustand/middleware";

export type Schedule = NonNullable<TrainingOptions["schedule"]>;

/** How a run is made; null: as suits the model and the data. */
export interface TrainingSettings {
  name: string;
  epochs: number | null;
  learningRate: number | null;
  rank: number;
  schedule: Schedule;
  /** Per cent of the examples. */
  heldOut: number | null;
  /** Looks at what was held out without a gain, after which a run ends; null: never. */
  patience: number | null;
  batchExamples: number | null;
  /** Per cent of a question's words that change, each time after the third. */
  wordDropout: number;
  maxLength: number;
  /** Megabytes beside the model; null: as many as there are. */
  memory: number | null;
  /** Every answer of a conversation is learned, not only the last. */
  allTurns: boolean;
  /** It is held to what it knows: to conversations that it makes up before the first step. */
  keepWhatItKnows: boolean;
  /** Lines that are no examples are passed over. */
  skipBad: boolean;
  seed: number;
}

const initial: TrainingSettings = {
  name: "",
  epochs: null,
  learningRate: null,
  rank: 16,
  schedule: "cosine",
  heldOut: null,
  patience: null,
  batchExamples: null,
  wordDropout: 40,
  maxLength: 2048,
  memory: null,
  allTurns: false,
  keepWhatItKnows: false,
  skipBad: false,
  seed: 0,
};

/** The package's word for as many conversations as suit the model. */
const asManyAsSuit = -1;

interface SettingsState extends TrainingSettings {
  set: (change: Partial<TrainingSettings>) => void;
}

export const useTrainingSettings = create<SettingsState>()(
  persist((set) => ({ ...initial, set: (change) => set(change) }), {
    name: "gemwire.training",
    version: 2,
    // Until version 1 what nobody had chosen was kept as if they had.
    migrate: (kept) => ({ ...(kept as SettingsState), heldOut: null, batchExamples: null }),
  }),
);

/** trainingOptionsOf writes the settings as the package takes them, which knows what suits where nothing is said. */
export function trainingOptionsOf(settings: TrainingSettings): TrainingOptions {
  const {
    epochs,
    learningRate,
    rank,
    schedule,
    heldOut,
    patience,
    batchExamples,
    maxLength,
    memory,
    allTurns,
    skipBad,
    seed,
  } = settings;
  return {
    rank,
    schedule,
    maxLength,
    allTurns,
    seed,
    wordDropout: settings.wordDropout / 100,
    badLines: skipBad ? "skip" : "refuse",
    ...(batchExamples === null ? {} : { batchExamples }),
    ...(heldOut === null ? {} : { heldOut: heldOut / 100 }),
    ...(epochs === null ? {} : { epochs }),
    ...(learningRate === null ? {} : { learningRate }),
    ...(settings.keepWhatItKnows ? { keep: asManyAsSuit } : {}),
    ...(patience === null ? {} : { patience }),
    ...(memory === null ? {} : { memoryBudget: memory * 1e6 }),
  };
}
