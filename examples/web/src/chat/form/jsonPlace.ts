/** A token of JSON: punctuation, a string, or another scalar. */
const token = /[[\]{}:,]|"(?:[^"\\]|\\.)*"|[^\s[\]{}:,"]+/g;

interface Open {
  array: boolean;
  /** The key of the member, or the index of the element, that is being read. */
  at: string;
}

/**
 * lineOf finds the line, from 1, on which the value stands that a JSON pointer names ("#/properties/a", as the compiler
 * of schemas writes it); null where the text has no such value.
 */
export function lineOf(text: string, pointer: string): number | null {
  const wanted = decoded(pointer);
  if (wanted === null) return null;
  const open: Open[] = [];
  let key: string | null = null;
  for (const match of text.matchAll(token)) {
    const [piece] = match;
    const top = open.at(-1);
    if (piece === "," && top) top.at = top.array ? String(Number(top.at) + 1) : "";
    if (piece === ",") key = null;
    if (piece === ":" && top && key !== null) top.at = key;
    if (piece === "]" || piece === "}") open.pop();
    if (/^[,:\]}]/.test(piece)) continue;
    // In an object, the first string is the key; what comes behind the colon is its value.
    if (top && !top.array && key === null) {
      key = unquoted(piece);
      continue;
    }
    if (open.length === wanted.length && open.every(({ at }, index) => at === wanted[index]))
      return text.slice(0, match.index).split("\n").length;
    if (piece === "{" || piece === "[") {
      open.push({ array: piece === "[", at: piece === "[" ? "0" : "" });
      key = null;
    }
  }
  return null;
}

function decoded(pointer: string): string[] | null {
  if (!/^#(\/|$)/.test(pointer)) return null;
  try {
    return pointer
      .split("/")
      .slice(1)
      .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
  } catch {
    return null;
  }
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}
