import type { LoadProgress, Model, Source, Suggestion } from "gemwire";
import { create } from "zustand";
import { planOptions, useSettings } from "../settings/settingsStore";
import { loadAssisted } from "./assistants";
import { nameOf, sourceOf, wholeName, type ModelChoice } from "./choice";
import { failureOf, isCancelled, type Failure } from "./failure";

/** The model in memory. A picked file is opened without being kept, so it is not a ModelChoice. */
export type Engine =
  | { state: "closed" }
  | { state: "loading"; label: string; progress: LoadProgress | null }
  | { state: "ready"; label: string; model: Model }
  | { state: "failed"; label: string; failure: Failure };

interface EngineState {
  engine: Engine;
  /** Opens a model in place of the one in memory. */
  open: (choice: ModelChoice) => Promise<void>;
  /** Opens a file, or the files of a split model, from the disk. */
  openFiles: (files: readonly File[]) => Promise<void>;
  /** Opens the same model again, after a loss or with a smaller plan. */
  reopen: (smaller?: Suggestion) => Promise<void>;
  close: () => Promise<void>;
}

interface Opening {
  label: string;
  source: Source;
}

/** What holds something of the open model, and lets go of it before the model closes. */
const holders = new Set<() => Promise<void>>();

/** beforeClose has something done before the open model closes, whyever it does. */
export const beforeClose = (letGo: () => Promise<void>): void => { holders.add(letGo); };

let last: Opening | null = null;
let loading: AbortController | null = null;

export const useEngine = create<EngineState>()((set, get) => {
  const release = async () => {
    loading?.abort();
    loading = null;
    const { engine } = get();
    if (engine.state !== "ready") return;
    await Promise.allSettled([...holders].map((letGo) => letGo()));
    await engine.model.close();
  };

  const load = async (opening: Opening) => {
    await release();
    const controller = new AbortController();
    loading = controller;
    last = opening;
    const { label, source } = opening;
    set({ engine: { state: "loading", label, progress: null } });
    try {
      const model = await loadAssisted(label, source, {
        ...planOptions(useSettings.getState()),
        signal: controller.signal,
        onProgress: (progress) => { if (loading === controller) set({ engine: { state: "loading", label, progress } }); },
      });
      if (loading !== controller) {
        await model.close();
        return;
      }
      set({ engine: { state: "ready", label, model } });
      void model.lost.then((error) => {
        const { engine } = get();
        if (engine.state === "ready" && engine.model === model) set({ engine: { state: "failed", label, failure: failureOf(error) } });
      });
    } catch (error) {
      if (loading !== controller) return;
      set({ engine: isCancelled(error) ? { state: "closed" } : { state: "failed", label, failure: failureOf(error) } });
    }
  };

  return {
    engine: { state: "closed" },
    open: async (choice) => {
      useSettings.getState().set({ model: choice });
      await load({ label: nameOf(choice), source: sourceOf(choice) });
    },
    openFiles: (files) => load({ label: wholeName(files[0]?.name ?? "").replace(/\.gguf$/i, ""), source: files }),
    reopen: async (smaller) => {
      if (smaller) useSettings.getState().set(smaller);
      if (last) await load(last);
    },
    close: async () => {
      await release();
      set({ engine: { state: "closed" } });
    },
  };
});

/** whenLoaded waits until no model is being loaded; whether one is ready then. */
export function whenLoaded(): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = ({ engine }: EngineState) => {
      if (engine.state === "loading") return;
      unsubscribe();
      resolve(engine.state === "ready");
    };
    const unsubscribe = useEngine.subscribe(settle);
    settle(useEngine.getState());
  });
}
