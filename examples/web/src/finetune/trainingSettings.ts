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
  heldOut: number;
  /** Looks at what was held out without a gain, after which a run ends; null: never. */
  patience: number | null;
  batchExamples: number;
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
  name: "", epochs: null, learningRate: null, rank: 16, schedule: "cosine", heldOut: 5, patience: null, batchExamples: 8, wordDropout: 40, maxLength: 2048, memory: null, allTurns: false, keepWhatItKnows: false, skipBad: false, seed: 0,
};

/** The package's word for as many conversations as suit the model. */
const asManyAsSuit = -1;

interface SettingsState extends TrainingSettings {
  set: (change: Partial<TrainingSettings>) => void;
}

export const useTrainingSettings = create<SettingsState>()(
  persist((set) => ({ ...initial, set: (change) => set(change) }), { name: "gemwire.training", version: 1 }),
);

/** trainingOptionsOf writes the settings as the package takes them, which knows what suits where nothing is said. */
export function trainingOptionsOf(settings: TrainingSettings): TrainingOptions {
  const { epochs, learningRate, rank, schedule, heldOut, patience, batchExamples, maxLength, memory, allTurns, skipBad, seed } = settings;
  return {
    rank, schedule, batchExamples, maxLength, allTurns, seed,
    heldOut: heldOut / 100,
    wordDropout: settings.wordDropout / 100,
    badLines: skipBad ? "skip" : "refuse",
    ...(epochs === null ? {} : { epochs }),
    ...(learningRate === null ? {} : { learningRate }),
    ...(settings.keepWhatItKnows ? { keep: asManyAsSuit } : {}),
    ...(patience === null ? {} : { patience }),
    ...(memory === null ? {} : { memoryBudget: memory * 1e6 }),
  };
}
