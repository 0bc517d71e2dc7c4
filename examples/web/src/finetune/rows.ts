/** A line of training data: a question with its answer, or anything else that JSONL holds, as it is. */
export type Row =
  { id: string; kind: "pair"; prompt: string; completion: string } | { id: string; kind: "json"; text: string };

export const newRow = (prompt = "", completion = ""): Row => ({
  id: crypto.randomUUID(),
  kind: "pair",
  prompt,
  completion,
});

export const isEmpty = (row: Row): boolean =>
  row.kind === "pair" ? row.prompt === "" && row.completion === "" : row.text.trim() === "";

/** rowsOf takes JSONL apart. What is neither a question with its answer nor empty stays as it is, readable or not. */
export function rowsOf(jsonl: string): Row[] {
  return jsonl
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "")
    .map(rowOf);
}

function rowOf(line: string): Row {
  const pair = pairOf(line);
  return pair ? newRow(pair.prompt, pair.completion) : { id: crypto.randomUUID(), kind: "json", text: line.trim() };
}

/** The question and answer of a line that holds nothing else; null of any other. */
function pairOf(line: string): { prompt: string; completion: string } | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { prompt, completion, ...rest } = value as Record<string, unknown>;
  if (typeof prompt !== "string" || typeof completion !== "string" || Object.keys(rest).length > 0) return null;
  return { prompt, completion };
}

/** jsonlOf writes one line for each row, an empty one for an empty row, so that line and row have the same number. */
export function jsonlOf(rows: readonly Row[]): string {
  return rows.map((row) => `${lineOf(row)}\n`).join("");
}

function lineOf(row: Row): string {
  if (isEmpty(row)) return "";
  // A line break between two values means nothing in JSON, and ends a line of JSONL.
  if (row.kind === "json") return row.text.trim().replaceAll(/\s*\n\s*/g, " ");
  return JSON.stringify({ prompt: row.prompt, completion: row.completion });
}
