import { store, type StorageEstimate, type StoredModel } from "gemwire";
import { create } from "zustand";
import { forgetAssistant } from "../engine/assistants";
import { wholeName } from "../engine/choice";
import { failureOf, isCancelled, type Failure } from "../engine/failure";

/** A download or an import that runs, was paused or failed. */
export interface Transfer {
  name: string;
  url: string | null;
  state: "running" | "paused" | "failed";
  done: number;
  total: number;
  /** Bytes a second, over the last seconds. */
  speed: number;
  failure: Failure | null;
}

interface StoredState {
  models: StoredModel[];
  transfers: ReadonlyMap<string, Transfer>;
  estimate: StorageEstimate | null;
  failure: Failure | null;
  refresh: () => Promise<void>;
  download: (url: string, more?: { name?: string; sha256?: string }) => Promise<void>;
  importFiles: (files: readonly File[]) => Promise<void>;
  pause: (name: string) => void;
  remove: (name: string) => Promise<void>;
}

const running = new Map<string, AbortController>();
const speedOver = 3000;

/** speedometer measures bytes a second over the last seconds. */
export function speedometer(now: () => number = () => performance.now()): (done: number) => number {
  let marks: { time: number; done: number }[] = [];
  return (done) => {
    const time = now();
    marks = [...marks.filter((mark) => time - mark.time < speedOver), { time, done }];
    const first = marks[0];
    return first && time > first.time ? ((done - first.done) * 1000) / (time - first.time) : 0;
  };
}

/** The name that a file gets from its address. */
export function fileNameOf(url: string): string {
  try {
    const { pathname, hostname } = new URL(url, location.href);
    return decodeURIComponent(pathname.slice(pathname.lastIndexOf("/") + 1)) || hostname;
  } catch {
    return url;
  }
}

/** Pages of Hugging Face that show a file, as the address of the file itself. */
export function directAddress(url: string): string {
  return url.trim().replace(/^(https:\/\/(?:huggingface\.co|hf\.co)\/[^/]+\/[^/]+)\/blob\//, "$1/resolve/");
}

export const useStoredModels = create<StoredState>()((set, get) => {
  const put = (transfer: Transfer) => set({ transfers: new Map(get().transfers).set(transfer.name, transfer) });
  const drop = (name: string) => {
    const transfers = new Map(get().transfers);
    transfers.delete(name);
    set({ transfers });
  };

  /** Runs a transfer until it ends, is paused or fails. */
  const transfer = async (name: string, url: string | null, work: (signal: AbortSignal, onProgress: (p: { done: number; total: number }) => void) => Promise<unknown>) => {
    if (running.has(name)) return;
    const controller = new AbortController();
    running.set(name, controller);
    const speed = speedometer();
    const before = get().models.find((model) => model.name === name);
    let current: Transfer = { name, url, state: "running", done: before?.received ?? 0, total: before?.size ?? 0, speed: 0, failure: null };
    put(current);
    try {
      await work(controller.signal, ({ done, total }) => {
        current = { ...current, done, total, speed: speed(done) };
        put(current);
      });
      drop(name);
    } catch (error) {
      if (isCancelled(error)) put({ ...current, state: "paused", speed: 0 });
      else put({ ...current, state: "failed", speed: 0, failure: failureOf(error) });
    } finally {
      running.delete(name);
      await get().refresh();
    }
  };

  return {
    models: [],
    transfers: new Map(),
    estimate: null,
    failure: null,

    refresh: async () => {
      try {
        const [models, estimate] = await Promise.all([store.list(), store.estimate()]);
        set({ models, estimate, failure: null });
      } catch (error) {
        set({ failure: failureOf(error) });
      }
    },

    download: async (address, { name, sha256 } = {}) => {
      const url = directAddress(address);
      const file = name ?? wholeName(fileNameOf(url));
      await transfer(file, url, (signal, onProgress) => store.download(url, { name: file, signal, onProgress, ...(sha256 ? { sha256 } : {}) }));
    },

    importFiles: async (files) => {
      const name = wholeName(files[0]?.name ?? "");
      await transfer(name, null, (signal, onProgress) => store.import(files, { name, signal, onProgress }));
    },

    pause: (name) => running.get(name)?.abort(),

    remove: async (name) => {
      running.get(name)?.abort();
      try {
        await store.delete(name);
        forgetAssistant(name);
      } catch (error) {
        set({ failure: failureOf(error) });
      }
      drop(name);
      await get().refresh();
    },
  };
});
