import type { KatexOptions } from "katex";

/** What KaTeX is held to: no links, classes or files; sizes in em; expansions of its own macros. */
export const bounds = {
  trust: false,
  strict: "ignore",
  throwOnError: true,
  maxSize: 20,
  maxExpand: 300,
} as const satisfies KatexOptions;

/** Formulas nest into elements, and browsers give up on elements that are nested thousands deep. */
const deepest = 40;

const definition = /\\(?:[gex]?def|(?:future)?let|newcommand|renewcommand|providecommand)(?![a-zA-Z])/;
const step = /\\[\\{}]|[{}]|\\(?:left|right|begin|end)(?![a-zA-Z])/g;

/** isBounded says whether a formula defines nothing and nests no deeper than anybody reads. */
export function isBounded(tex: string): boolean {
  if (definition.test(tex)) return false;
  let depth = 0;
  for (const [one] of tex.matchAll(step)) {
    if (one === "{" || one === "\\left" || one === "\\begin") depth++;
    else if (one === "}" || one === "\\right" || one === "\\end") depth--;
    if (depth > deepest) return false;
  }
  return true;
}
