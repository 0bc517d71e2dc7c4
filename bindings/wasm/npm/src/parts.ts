// Models that are split over several files, as gguf-split of llama.cpp names
// them: model-00001-of-00003.gguf.
const pattern = /^(.*-)(\d{5})-of-(\d{5})(\.gguf)$/s;

/** partsOf is the names of all parts of which one is given, null for a name that is no part's. */
export function partsOf(name: string): string[] | null {
  const [, before, no, count, after] = pattern.exec(name) ?? [];
  if (!before || Number(count) < 2 || Number(no) < 1 || Number(no) > Number(count)) return null;
  return Array.from(
    { length: Number(count) },
    (_, i) => `${before}${String(i + 1).padStart(5, "0")}-of-${count}${after}`,
  );
}

/** wholeName is what the model of a part is called: model.gguf. */
export function wholeName(name: string): string {
  const [, before, , , after] = pattern.exec(name) ?? [];
  return before === undefined ? name : `${before.slice(0, -1)}${after}`;
}
