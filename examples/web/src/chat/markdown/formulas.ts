// Formulas are taken out of a text before it is parsed as Markdown, which would read their backslashes, stars and
// underscores as its own. A mark stands in for each; it holds the formula in letters that mean nothing to Markdown.

/** A formula as it stood in the text. */
export interface Formula {
  /** As the model wrote it, delimiters included. */
  source: string;
  tex: string;
  /** On a line of its own. */
  display: boolean;
}

/** Longer ones stay text. */
const longest = 4000;

const [begin, end] = ["\uE000", "\uE001"];
/** Where the marks' letters begin: one for each ASCII character. */
const offset = 0xe100;
const mark = /\uE000([^\uE001]*)\uE001/g;

const markOf = (source: string): string =>
  begin + source.replace(/[\0-\x7f]/g, (one) => String.fromCharCode(offset + one.charCodeAt(0))) + end;

const sourceOf = (marked: string): string =>
  marked.replace(/[\uE100-\uE17F]/g, (one) => String.fromCharCode(one.charCodeAt(0) - offset));

/** The delimiters; the longer of two with the same beginning comes first. */
const delimiters: readonly { open: string; close: string; display: boolean }[] = [
  { open: "$$", close: "$$", display: true },
  { open: "\\[", close: "\\]", display: true },
  { open: "\\(", close: "\\)", display: false },
  { open: "$", close: "$", display: false },
];

function formulaOf(source: string): Formula {
  const found = delimiters.find(({ open }) => source.startsWith(open)) ?? { open: "", close: "", display: false };
  const tex = source.slice(found.open.length, source.length - found.close.length).trim();
  return { source, tex, display: found.display };
}

/** markFormulas puts a mark in the place of each formula of a text. Code stays as it is. */
export function markFormulas(text: string): string {
  // Nobody types the marks' own letters.
  const clean = text.replace(/[\uE000\uE001]/g, "\uFFFD");
  if (!/[$\\]/.test(clean)) return clean;
  const scanner = new Scanner(clean);
  let marked = "";
  for (let at = 0; at < clean.length;) {
    const next = scanner.after(at);
    const piece = clean.slice(at, next.end);
    marked += next.formula ? markOf(piece) : piece;
    at = next.end;
  }
  return marked;
}

/** cutFormulas is a text with marks as its pieces: words, and formulas. */
export function cutFormulas(text: string): (string | Formula)[] {
  return text
    .split(mark)
    .map((piece, index) => (index % 2 === 0 ? piece : formulaOf(sourceOf(piece))))
    .filter((piece) => piece !== "");
}

/** withoutMarks is a text as the model wrote it. */
export const withoutMarks = (text: string): string => text.replace(mark, (_, marked: string) => sourceOf(marked));

const opening = /(?:^|\n)[ \t>*+-]*(?:(`{3,})[^`\n]*|(~{3,})[^\n]*)(?=\n|$)/y;
const closing = /\n[ \t>]*(`{3,}|~{3,})[ \t]*(?=\n|$)/y;
const ticks = /`+/y;
/** In single dollars: no space inside of them, and no word against them from outside but an ending, as in $n$th. */
const inDollars = new RegExp(
  [
    /(?<![\p{L}\p{N}\\$])\$(?![\s$])/u, // opens
    /((?:[^$\\\n]|\\[^\n])*?(?:[^\s$\\]|\\\S))/u, // the formula
    /\$(?![\p{N}$_]|(?!(?:th|st|nd|rd|s)\b)\p{L})/u, // closes
  ]
    .map((part) => part.source)
    .join(""),
  "uy",
);
/** An amount of money, with the words after it up to the next dollar sign. */
const money = /^\d[\d.,]*\s+[([]?\p{L}{2,}/u;

class Scanner {
  readonly #text: string;
  /** Delimiters that do not come again. */
  readonly #gone = new Set<string>();

  constructor(text: string) {
    this.#text = text;
  }

  /** What begins at a position, and where it ends: code, a formula, or a character. */
  after(at: number): { end: number; formula?: true } {
    const text = this.#text;
    const character = text[at];
    if (at === 0 || character === "\n") {
      const code = this.#fenced(at);
      if (code !== null) return { end: code };
    }
    if (character === "`") return { end: this.#code(at) };
    if (character === "$" || character === "\\") {
      const formula = this.#formula(at);
      if (formula !== null) return { end: formula, formula: true };
      if (character === "\\") return { end: Math.min(text.length, at + 2) };
    }
    return { end: at + 1 };
  }

  #match(pattern: RegExp, at: number): RegExpExecArray | null {
    pattern.lastIndex = at;
    return pattern.exec(this.#text);
  }

  /** The next place of a delimiter; -1 where there is none. */
  #find(delimiter: string, from: number): number {
    if (this.#gone.has(delimiter)) return -1;
    const found = this.#text.indexOf(delimiter, from);
    if (found < 0) this.#gone.add(delimiter);
    return found;
  }

  /** The end of a fenced block that begins here; one that is open ends with the text. */
  #fenced(at: number): number | null {
    const opened = this.#match(opening, at);
    const marks = opened?.[1] ?? opened?.[2];
    if (!opened || marks === undefined) return null;
    for (let line = at + opened[0].length; (line = this.#find("\n", line)) >= 0; line++) {
      const closed = this.#match(closing, line);
      if (closed?.[1]?.startsWith(marks)) return line + closed[0].length;
    }
    return this.#text.length;
  }

  /** The end of a code span that begins here, or of the backticks that begin none. */
  #code(at: number): number {
    const opened = this.#match(ticks, at)?.[0] ?? "`";
    for (let next = at + opened.length; (next = this.#find(opened, next)) >= 0;) {
      const run = this.#match(ticks, next)?.[0] ?? "";
      if (run.length === opened.length) return next + run.length;
      next += run.length;
    }
    this.#gone.add(opened);
    return at + opened.length;
  }

  /** The end of a formula that begins here. */
  #formula(at: number): number | null {
    const text = this.#text;
    const found = delimiters.find(({ open }) => text.startsWith(open, at));
    if (!found) return null;
    if (found.open === "$") {
      const inside = this.#match(inDollars, at);
      return inside && inside[0].length <= longest && !money.test(inside[1] ?? "") ? at + inside[0].length : null;
    }
    const start = at + found.open.length;
    const close = this.#find(found.close, start);
    if (close < 0 || close - start > longest) return null;
    const tex = text.slice(start, close);
    if (tex.trim() === "" || (!found.display && /\n\s*\n/.test(tex))) return null;
    return close + found.close.length;
  }
}
