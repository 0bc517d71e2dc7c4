/**
 * ftsQuery turns what a reader types into an FTS5 query: every word must occur, the last one may
 * be unfinished. Words are quoted, so that FTS5's own operators are only words.
 */
export function ftsQuery(typed: string): string | null {
  const words = typed.match(/[\p{L}\p{N}]+/gu);
  if (!words) return null;
  return words.map((word) => `"${word}"*`).join(" ");
}
