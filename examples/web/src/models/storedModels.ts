import { store, type StorageEstimate, type StoredModel } from "gemwire";
import { create } from "zustand";
import { routeOf } from "../app/route";
import { useToasts } from "../app/toasts";
import { forgetAssistant } from "../engine/assistants";
import { wholeName } from "../engine/choice";
import { isCancelled, modelFailureOf, type Failure } from "../engine/failure";

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
  /** The part of the page that it was begun in, and is shown in while that is there. */
  origin: string | null;
}

/** What is known of a transfer before it begins. */
interface Begin {
  name?: string;
  sha256?: string;
  origin?: string;
}

interface StoredState {
  models: StoredModel[];
  transfers: ReadonlyMap<string, Transfer>;
  estimate: StorageEstimate | null;
  failure: Failure | null;
  /** Read out to screen readers: how far a transfer is. */
  announcement: string;
  refresh: () => Promise<void>;
  download: (url: string, more?: Begin) => Promise<void>;
  importFiles: (files: readonly File[], more?: Pick<Begin, "origin">) => Promise<void>;
  /** The part of the page has gone: its transfers are shown in the list. */
  orphan: (origin: string) => void;
  pause: (name: string) => void;
  remove: (name: string) => Promise<void>;
}

/** Says where the reader cannot see the transfers what became of one. */
function tellElsewhere(sentence: string): void {
  if (routeOf(location.hash).page !== "models") useToasts.getState().show(sentence);
}

/** announcer tells of a transfer at its beginning and at each quarter. */
export function announcer(name: string, tell: (sentence: string) => void): (done: number, total: number) => void {
  let told = -1;
  return (done, total) => {
    const quarter = total > 0 ? Math.floor((4 * done) / total) : 0;
    if (quarter <= told) return;
    const first = told < 0;
    told = quarter;
    if (first) tell(`${name} is being copied to this device.`);
    else if (quarter < 4) tell(`${name}: ${25 * quarter} %.`);
  };
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

  /** A download that the network has ended goes on when it is back. */
  const goOnWhenOnline = (name: string, url: string) => {
    const goOn = () => {
      if (get().transfers.get(name)?.state === "failed") void get().download(url, { name });
    };
    addEventListener("online", goOn, { once: true });
  };

  /** Runs a transfer until it ends, is paused or fails. */
  const transfer = async (
    name: string,
    url: string | null,
    origin: string | null,
    work: (signal: AbortSignal, onProgress: (p: { done: number; total: number }) => void) => Promise<unknown>,
  ) => {
    if (running.has(name)) return;
    const controller = new AbortController();
    running.set(name, controller);
    const speed = speedometer();
    const before = get().models.find((model) => model.name === name);
    const steps = announcer(name, (announcement) => set({ announcement }));
    let current: Transfer = {
      name,
      url,
      state: "running",
      done: before?.received ?? 0,
      total: before?.size ?? 0,
      speed: 0,
      failure: null,
      origin: origin ?? get().transfers.get(name)?.origin ?? null,
    };
    put(current);
    try {
      await work(controller.signal, ({ done, total }) => {
        current = { ...current, done, total, speed: speed(done), origin: get().transfers.get(name)?.origin ?? null };
        put(current);
        steps(done, total);
      });
      drop(name);
      tell(`${name} is on this device.`);
    } catch (error) {
      if (isCancelled(error)) put({ ...current, state: "paused", speed: 0 });
      else {
        const failure = modelFailureOf(error);
        put({ ...current, state: "failed", speed: 0, failure });
        tellElsewhere(`${name} has stopped coming. ${failure.sentence}`);
        if (failure.code === "network" && url !== null) goOnWhenOnline(name, url);
      }
    } finally {
      running.delete(name);
      await get().refresh();
    }
  };

  const tell = (announcement: string) => {
    set({ announcement });
    tellElsewhere(announcement);
  };

  return {
    announcement: "",
    models: [],
    transfers: new Map(),
    estimate: null,
    failure: null,

    refresh: async () => {
      try {
        const [models, estimate] = await Promise.all([store.list(), store.estimate()]);
        set({ models, estimate, failure: null });
      } catch (error) {
        set({ failure: modelFailureOf(error) });
      }
    },

    download: async (address, { name, sha256, origin } = {}) => {
      const url = directAddress(address);
      const file = name ?? wholeName(fileNameOf(url));
      await transfer(file, url, origin ?? null, (signal, onProgress) =>
        store.download(url, { name: file, signal, onProgress, ...(sha256 ? { sha256 } : {}) }),
      );
    },

    importFiles: async (files, { origin } = {}) => {
      const name = wholeName(files[0]?.name ?? "");
      await transfer(name, null, origin ?? null, (signal, onProgress) =>
        store.import(files, { name, signal, onProgress }),
      );
    },

    orphan: (origin) => {
      for (const one of get().transfers.values()) if (one.origin === origin) put({ ...one, origin: null });
    },

    pause: (name) => running.get(name)?.abort(),

    remove: async (name) => {
      running.get(name)?.abort();
      try {
        await store.delete(name);
        forgetAssistant(name);
      } catch (error) {
        set({ failure: modelFailureOf(error) });
      }
      drop(name);
      await get().refresh();
    },
  };
});
