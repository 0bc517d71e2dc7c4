import { adapters as kept, type StoredAdapter } from "gemwire";
import { create } from "zustand";
import { persist } from "zustand/middleware";
import { failureOf, type Failure } from "../engine/failure";

/** What the app knows of an adapter that its files do not say. */
export interface AdapterRecord {
  /** The model that it was trained on; null of one from elsewhere, until a model has taken it. */
  base: string | null;
  /** Of the last step. */
  loss: number | null;
  heldOutLoss: number | null;
  /** Deleted, and gone for good when nobody wants it back. */
  deleted?: boolean;
}

export interface Adapter extends StoredAdapter, AdapterRecord {}

interface AdaptersState {
  /** What is in the browser's storage. */
  stored: readonly StoredAdapter[];
  /** The same with what is known of each, newest first, without those that are deleted. */
  adapters: readonly Adapter[];
  records: Readonly<Record<string, AdapterRecord>>;
  failure: Failure | null;
  refresh: () => Promise<void>;
  /** Notes what is known of an adapter that was just kept, or learned later. */
  note: (name: string, change: Partial<AdapterRecord>) => void;
  /** Takes in PEFT's two files or llama.cpp's one, and returns the name that it has got. */
  take: (files: readonly File[], name: string) => Promise<string>;
  rename: (from: string, to: string) => Promise<void>;
  /** Hides an adapter; restore brings it back until purge. */
  remove: (name: string) => void;
  restore: (name: string) => void;
  /** Deletes what is hidden, or one of them. */
  purge: (name?: string) => Promise<void>;
}

const unknown: AdapterRecord = { base: null, loss: null, heldOutLoss: null };

const longest = 60;

/** nameFrom makes what somebody typed, or a file's name, into an adapter's: it is also the name of a file. */
export function nameFrom(typed: string): string {
  return (
    typed
      .replaceAll(/\p{Cc}/gu, "")
      .replaceAll(/[/\\:*?"<>|]+/g, "-")
      .replace(/^[.\s]+/, "")
      .trim()
      .slice(0, longest)
      .trim() || "adapter"
  );
}

/** freeName is the name, with a number behind it where it is taken. */
export function freeName(name: string, taken: readonly string[]): string {
  const wanted = nameFrom(name);
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? wanted : `${wanted} ${number}`;
    if (!taken.includes(candidate)) return candidate;
  }
}

export const useAdapters = create<AdaptersState>()(
  persist(
    (set, get) => {
      const show = ({
        stored = get().stored,
        records = get().records,
      }: Partial<Pick<AdaptersState, "stored" | "records">>) => {
        const known = stored.map((adapter) => ({ ...unknown, ...records[adapter.name], ...adapter }));
        set({
          stored,
          records,
          adapters: known.filter(({ deleted }) => deleted !== true).sort((a, b) => b.modified - a.modified),
        });
      };
      const without = (name: string) =>
        Object.fromEntries(Object.entries(get().records).filter(([one]) => one !== name));
      const note = (name: string, change: Partial<AdapterRecord>) =>
        show({ records: { ...get().records, [name]: { ...unknown, ...get().records[name], ...change } } });

      return {
        stored: [],
        adapters: [],
        records: {},
        failure: null,
        note,

        refresh: async () => {
          try {
            const stored = await kept.list();
            set({ failure: null });
            show({ stored });
          } catch (error) {
            set({ failure: failureOf(error) });
          }
        },

        take: async (files, typed) => {
          const name = freeName(
            typed,
            get().stored.map((adapter) => adapter.name),
          );
          await kept.import(files, { name });
          note(name, unknown);
          await get().refresh();
          return name;
        },

        rename: async (from, to) => {
          await kept.rename(from, to);
          const record = get().records[from];
          show({ records: { ...without(from), ...(record ? { [to]: record } : {}) } });
          await get().refresh();
        },

        remove: (name) => note(name, { deleted: true }),
        restore: (name) => note(name, { deleted: false }),

        purge: async (only) => {
          const hidden = Object.entries(get().records).filter(
            ([name, { deleted }]) => deleted === true && (only === undefined || name === only),
          );
          for (const [name] of hidden) {
            if (get().stored.some((adapter) => adapter.name === name)) await kept.delete(name).catch(() => undefined);
            show({ records: without(name) });
          }
          if (hidden.length > 0) await get().refresh();
        },
      };
    },
    { name: "gemwire.adapters", version: 1, partialize: ({ records }) => ({ records }) },
  ),
);
