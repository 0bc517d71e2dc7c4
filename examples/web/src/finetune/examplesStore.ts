import { create } from "zustand";
import { persist } from "zustand/middleware";
import { isEmpty, newRow, rowsOf, type Row } from "./rows";

interface Change {
  /** What was done, for the button that takes it back. */
  what: string;
  before: readonly Row[];
}

interface ExamplesState {
  rows: readonly Row[];
  changes: readonly Change[];
  /** Too many to be there after a reload. */
  unkept: boolean;
  write: (row: Row) => void;
  /** Adds an empty row behind another, or at the end, and returns its id. */
  add: (behind?: string) => string;
  remove: (id: string) => void;
  /** Adds the lines of a file; how many they were. */
  take: (jsonl: string) => number;
  clear: () => void;
  undo: () => void;
}

const mostChanges = 50;
/** Characters of training data that are kept over a reload: the browser gives a page some five million. */
const mostKept = 2_000_000;

const sizeOf = (rows: readonly Row[]): number =>
  rows.reduce(
    (sum, row) => sum + 100 + (row.kind === "pair" ? row.prompt.length + row.completion.length : row.text.length),
    0,
  );

/** What is typed into one row is taken back at once. */
let typedInto: string | null = null;

export const useExamples = create<ExamplesState>()(
  persist(
    (set, get) => {
      const change = (what: string, rows: readonly Row[], typed: string | null = null) => {
        const { rows: before, changes } = get();
        const goesOn = typed !== null && typed === typedInto && changes.length > 0;
        typedInto = typed;
        set({
          rows,
          unkept: sizeOf(rows) > mostKept,
          changes: goesOn ? changes : [...changes.slice(1 - mostChanges), { what, before }],
        });
      };
      return {
        rows: [],
        changes: [],
        unkept: false,

        write: (row) =>
          change(
            "typing",
            get().rows.map((one) => (one.id === row.id ? row : one)),
            row.id,
          ),

        add: (behind) => {
          const { rows } = get();
          const row = newRow();
          const at = behind === undefined ? rows.length : rows.findIndex(({ id }) => id === behind) + 1;
          change("adding an example", rows.toSpliced(at, 0, row));
          return row.id;
        },

        remove: (id) =>
          change(
            "deleting an example",
            get().rows.filter((row) => row.id !== id),
          ),

        take: (jsonl) => {
          const added = rowsOf(jsonl);
          if (added.length > 0) change("importing", [...get().rows.filter((row) => !isEmpty(row)), ...added]);
          return added.length;
        },

        clear: () => change("removing all", []),

        undo: () => {
          typedInto = null;
          const { changes } = get();
          const last = changes.at(-1);
          if (last) set({ rows: last.before, unkept: sizeOf(last.before) > mostKept, changes: changes.slice(0, -1) });
        },
      };
    },
    { name: "gemwire.examples", version: 1, partialize: ({ rows, unkept }) => ({ rows: unkept ? [] : rows }) },
  ),
);
