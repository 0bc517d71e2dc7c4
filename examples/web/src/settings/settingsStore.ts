import type { Device, KVCache, LoadOptions } from "gemwire";
import { create } from "zustand";
import { persist } from "zustand/middleware";
import type { Sampling } from "../chat/message";
import type { ModelChoice } from "../engine/choice";
import { serverOf, type Server } from "../server/server";
import { recommended, samplingOf } from "./sampling";

/** What the model was trained to see an image with: soft tokens at most. */
export const imageBudgets = [70, 140, 280, 560, 1120] as const;

export type ImageBudget = (typeof imageBudgets)[number];

/** budgetOf knows the budgets among any values. */
export const budgetOf = (value: unknown): ImageBudget | null => imageBudgets.find((budget) => budget === value) ?? null;

/** assistantsOf knows stored files by the names of models among any values. */
const assistantsOf = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(typeof value === "object" ? (value ?? {}) : {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    ),
  );

/** cacheOf knows the kinds of cache among any values. */
export const cacheOf = (value: unknown): KVCache | null =>
  (["f16", "q8"] as const).find((cache) => cache === value) ?? null;

export type Theme = "light" | "dark" | "system";

export interface Settings {
  theme: Theme;
  /** What Enter does; Shift+Enter does the other. */
  enterSends: boolean;
  system: string;
  sampling: Sampling;
  /** The oldest messages of a chat are left out when the context is full. */
  forget: boolean;
  /** Soft tokens that an image may take at most. */
  imageBudget: ImageBudget;
  /** Opened when the app starts. */
  model: ModelChoice;
  /** The stored files that guess ahead for models, by the models' names. */
  assistants: Record<string, string>;
  device: Device;
  /** null: as the model's plan says. */
  context: number | null;
  memoryBudget: number | null;
  /** What keys and values are kept as. */
  kvCache: KVCache;
  servers: string[];
  /** The machine that answers, if answersFrom says so. */
  server: Server | null;
  answersFrom: "tab" | "server";
}

interface SettingsState extends Settings {
  set: (change: Partial<Settings>) => void;
}

const initial: Settings = {
  theme: "system",
  enterSends: true,
  system: "",
  sampling: recommended,
  forget: true,
  imageBudget: 280,
  model: { kind: "builtin" },
  assistants: {},
  device: "auto",
  context: null,
  memoryBudget: null,
  kvCache: "f16",
  servers: [],
  server: null,
  answersFrom: "tab",
};

export const useSettings = create<SettingsState>()(
  persist((set) => ({ ...initial, set: (change) => set(change) }), {
    name: "gemwire.settings",
    version: 1,
    merge: (saved, current) => {
      const known = (saved ?? {}) as Partial<Settings>;
      return {
        ...current,
        ...known,
        sampling: samplingOf(known.sampling),
        forget: known.forget !== false,
        imageBudget: budgetOf(known.imageBudget) ?? current.imageBudget,
        kvCache: cacheOf(known.kvCache) ?? current.kvCache,
        assistants: assistantsOf(known.assistants),
        server: serverOf(known.server),
        answersFrom: known.answersFrom === "server" ? "server" : "tab",
      };
    },
  }),
);

/** What the settings say about where a model lives, and how much it may take. */
export function planOptions({
  device,
  context,
  memoryBudget,
  kvCache,
}: Settings): Pick<LoadOptions, "device" | "context" | "memoryBudget" | "kvCache"> {
  return {
    device,
    kvCache,
    ...(context === null ? {} : { context }),
    ...(memoryBudget === null ? {} : { memoryBudget }),
  };
}
