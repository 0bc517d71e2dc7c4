const fence = /^ {0,3}(`{3,}|~{3,})/;
const definition = /^ {0,3}\[[^\]]+\]:/m;
/** Lines that may belong to the block before, although an empty line lies between. */
const continues = /^(\s|[-*+] |\d{1,9}[.)] )/;

/**
 * blocksOf cuts Markdown into pieces that mean the same apart as together: at empty lines outside of fenced code,
 * lists and indented text. A text with link definitions, which work from afar, stays whole.
 */
export function blocksOf(text: string): string[] {
  if (definition.test(text)) return [text];
  const blocks: string[] = [];
  let block: string[] = [];
  let open: string | null = null;
  let gap = false;
  for (const line of text.split("\n")) {
    const mark = fence.exec(line)?.[1];
    if (open === null && line.trim() === "") {
      gap = true;
      block.push(line);
      continue;
    }
    if (gap && open === null && !continues.test(line) && block.some((before) => before.trim() !== "")) {
      blocks.push(block.join("\n"));
      block = [];
    }
    gap = false;
    block.push(line);
    if (mark === undefined) continue;
    if (open === null) open = mark;
    else if (mark.startsWith(open) && line.trim() === mark) open = null;
  }
  if (block.some((line) => line.trim() !== "")) blocks.push(block.join("\n"));
  return blocks;
}
