import { store, type CheckProgress, type LoadProgress, type Model, type Source, type Suggestion } from "gemwire";
import { create } from "zustand";
import { useToasts } from "../app/toasts";
import { leftOutText } from "../models/kernelsText";
import { planOptions, useSettings } from "../settings/settingsStore";
import { loadAssisted } from "./assistants";
import { nameOf, sourceOf, wholeName, type ModelChoice } from "./choice";
import { isCancelled, modelFailureOf, tooLarge, type Failure } from "./failure";

/** The model in memory. A picked file is opened without being kept, so it is not a ModelChoice. */
export type Engine =
  | { state: "closed" }
  | { state: "loading"; label: string; progress: LoadProgress | null }
  | { state: "ready"; label: string; model: Model; choice: ModelChoice | null }
  | { state: "failed"; label: string; failure: Failure };

/** A model that was not opened; the one that was open goes on. */
export interface Refused {
  label: string;
  failure: Failure;
  kept: string;
}

interface EngineState {
  engine: Engine;
  /** The name of a model whose header is read before the open one goes. */
  checking: string | null;
  /** How many of the kernels that have come to the open model are compared with the CPU; null for none. */
  examining: CheckProgress | null;
  refused: Refused | null;
  /** Says which model will be opened as soon as there is time for it: what is asked until then waits for it. */
  expect: (choice: ModelChoice) => void;
  /** Opens a model in place of the one in memory, which stays or comes back where that fails. */
  open: (choice: ModelChoice) => Promise<void>;
  /** Opens a file, or the files of a split model, from the disk. */
  openFiles: (files: readonly File[]) => Promise<void>;
  /** Opens the same model again, after a loss. */
  reopen: () => Promise<void>;
  /** Opens once more what could not be opened, with a smaller plan if one is given. */
  retry: (smaller?: Suggestion) => Promise<void>;
  dismiss: () => void;
  close: () => Promise<void>;
}

interface Opening {
  label: string;
  source: Source;
  /** What the next visit opens; null for files from the disk. */
  choice: ModelChoice | null;
}

/** What holds something of the open model, and lets go of it before the model closes. */
const holders = new Set<() => Promise<void>>();

/** beforeClose has something done before the open model closes, whyever it does. */
export const beforeClose = (letGo: () => Promise<void>): void => {
  holders.add(letGo);
};

let current: Opening | null = null;
let tried: Opening | null = null;
let loading: AbortController | null = null;

/** What is wrong with a model, as far as its header tells, or null. */
async function wrongWith({ source, choice }: Opening, signal: AbortSignal): Promise<Failure | null> {
  if (choice?.kind === "builtin") return null;
  try {
    const { fits, suggestion } = await store.plan(source, { ...planOptions(useSettings.getState()), signal });
    return fits ? null : tooLarge(suggestion);
  } catch (error) {
    const failure = modelFailureOf(error);
    // The open model may hold the file, and storage may be missing: loading will tell.
    return isCancelled(error) || failure.code === "busy" || failure.code === "unsupported" ? null : failure;
  }
}

export const useEngine = create<EngineState>()((set, get) => {
  const release = async () => {
    const { engine } = get();
    if (engine.state !== "ready") return;
    await Promise.allSettled([...holders].map((letGo) => letGo()));
    await engine.model.close();
  };

  /** Loads a model where none is open; what kept it from that, or null. */
  const start = async (opening: Opening, controller: AbortController): Promise<Failure | null> => {
    const { label, source, choice } = opening;
    const here = () => loading === controller;
    set({ engine: { state: "loading", label, progress: null } });
    try {
      const model = await loadAssisted(label, source, {
        ...planOptions(useSettings.getState()),
        signal: controller.signal,
        onProgress: (progress) => {
          if (here()) set({ engine: { state: "loading", label, progress } });
        },
        onCheck: ({ done, total }) => {
          if (here()) set({ examining: done < total && get().engine.state === "ready" ? { done, total } : null });
        },
        onLeftOut: (kernels) => {
          if (here()) useToasts.getState().warn(leftOutText(kernels));
        },
      });
      if (!here()) {
        await model.close();
        return null;
      }
      current = opening;
      if (choice) useSettings.getState().set({ model: choice });
      set({ engine: { state: "ready", label, model, choice } });
      void model.lost.then((error) => {
        const { engine } = get();
        if (engine.state === "ready" && engine.model === model)
          set({ engine: { state: "failed", label, failure: modelFailureOf(error) } });
      });
      return null;
    } catch (error) {
      if (!here()) return null;
      if (!isCancelled(error)) return modelFailureOf(error);
      set({ engine: { state: "closed" } });
      return null;
    }
  };

  const load = async (opening: Opening) => {
    loading?.abort();
    const controller = new AbortController();
    loading = controller;
    tried = opening;
    const { label } = opening;
    const before = get().engine.state === "ready" ? current : null;
    set({ refused: null, checking: before ? label : null });
    const refuse = (failure: Failure, kept: string) => set({ checking: null, refused: { label, failure, kept } });
    if (before) {
      const failure = await wrongWith(opening, controller.signal);
      if (loading !== controller) return;
      if (failure) {
        refuse(failure, before.label);
        return;
      }
    }
    await release();
    if (loading !== controller) return;
    set({ checking: null });
    const failure = await start(opening, controller);
    if (loading !== controller || !failure) return;
    // The room for both was not there to find out sooner: the one before is opened again.
    const back = before && before.source !== opening.source && (await start(before, controller)) === null;
    if (loading !== controller) return;
    if (back) refuse(failure, before.label);
    else set({ engine: { state: "failed", label, failure } });
  };

  return {
    engine: { state: "closed" },
    checking: null,
    examining: null,
    refused: null,
    expect: (choice) => {
      if (get().engine.state === "closed") set({ engine: { state: "loading", label: nameOf(choice), progress: null } });
    },
    open: (choice) => load({ label: nameOf(choice), source: sourceOf(choice), choice }),
    openFiles: (files) =>
      load({ label: wholeName(files[0]?.name ?? "").replace(/\.gguf$/i, ""), source: files, choice: null }),
    reopen: async () => {
      const opening = current ?? tried;
      if (opening) await load(opening);
    },
    retry: async (smaller) => {
      if (smaller) useSettings.getState().set(smaller);
      if (tried) await load(tried);
    },
    dismiss: () => set({ refused: null }),
    close: async () => {
      loading?.abort();
      loading = null;
      await release();
      set({ engine: { state: "closed" }, checking: null });
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
