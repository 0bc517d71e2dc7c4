/** How a value of JSON is shown: rows of one kind as a table, what is nested as a tree, and a scalar as itself. */
export type View = "table" | "tree" | "scalar";

export type Members = Record<string, unknown>;

const mostColumns = 30;

export const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null;

const isFlat = (value: unknown): value is Members =>
  !isScalar(value) && !Array.isArray(value) && Object.values(value as Members).every(isScalar);

export function viewOf(value: unknown): View {
  if (isScalar(value)) return "scalar";
  const rows = rowsOf(value);
  return rows.length > 0 && columnsOf(rows).length <= mostColumns ? "table" : "tree";
}

/**
 * rowsOf lists the flat objects that a table shows: an array of them, also where it is an object's only member. There
 * are none where anything else is among them.
 */
export function rowsOf(value: unknown): Members[] {
  const inner = !isScalar(value) && !Array.isArray(value) ? Object.values(value as Members) : [];
  const list = Array.isArray(value) ? value : inner.length === 1 ? inner[0] : null;
  return Array.isArray(list) && list.every(isFlat) ? list : [];
}

/** columnsOf lists the keys of all rows, in the order in which they come. */
export const columnsOf = (rows: readonly Members[]): string[] => [...new Set(rows.flatMap((row) => Object.keys(row)))];

/** scalarText is a scalar as a reader has it: strings without quotes. */
export function scalarText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value === undefined || value === null ? "–" : JSON.stringify(value);
}
