import type { TrainingOptions } from "gemwire";
import { create } from "zustand";
import { persist } from "zustand/middleware";

export type Schedule = NonNullable<TrainingOptions["schedule"]>;

/** How a run is made; null: as suggested for the model and the data. */
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
  /** Lines that are no examples are passed over. */
  skipBad: boolean;
  seed: number;
}

const initial: TrainingSettings = {
  name: "", epochs: null, learningRate: null, rank: 16, schedule: "cosine", heldOut: 5, patience: null, batchExamples: 8, wordDropout: 40, maxLength: 2048, memory: null, allTurns: false, skipBad: false, seed: 0,
};

interface SettingsState extends TrainingSettings {
  set: (change: Partial<TrainingSettings>) => void;
}

export const useTrainingSettings = create<SettingsState>()(
  persist((set) => ({ ...initial, set: (change) => set(change) }), { name: "gemwire.training", version: 1 }),
);

/** Steps after which a few examples are usually learned. */
const enoughSteps = 40;

/** suggestedEpochs has few examples gone through often enough to be learned, and many of them three times. */
export function suggestedEpochs(examples: number, batchExamples: number): number {
  const stepsPerEpoch = Math.max(1, Math.ceil(examples / batchExamples));
  return Math.min(enoughSteps, Math.max(3, Math.ceil(enoughSteps / stepsPerEpoch)));
}

/** suggestedRate is gemwire's, but for models with few layers, which want larger steps. */
export const suggestedRate = (layers: number): number => (layers < 12 ? 5e-3 : 2e-4);

/** What the model and the data say to settings that are left to them. */
export interface Suggested {
  epochs: number;
  learningRate: number;
}

/** trainingOptionsOf writes the settings as the package takes them. */
export function trainingOptionsOf(settings: TrainingSettings, suggested: Suggested): TrainingOptions {
  const { rank, schedule, heldOut, patience, batchExamples, maxLength, memory, allTurns, skipBad, seed } = settings;
  return {
    rank, schedule, batchExamples, maxLength, allTurns, seed,
    heldOut: heldOut / 100,
    wordDropout: settings.wordDropout / 100,
    epochs: settings.epochs ?? suggested.epochs,
    learningRate: settings.learningRate ?? suggested.learningRate,
    badLines: skipBad ? "skip" : "refuse",
    ...(patience === null ? {} : { patience }),
    ...(memory === null ? {} : { memoryBudget: memory * 1e6 }),
  };
}
