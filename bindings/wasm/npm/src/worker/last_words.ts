// What Go's runtime prints before it dies: a panic, or that memory has run out.
interface Output {
  writeSync(descriptor: number, bytes: Uint8Array): number;
}

const longestLine = 1000; // characters

/** hearLastWords returns what tells, later, the sentence with which the program has ended; "" for none. */
export function hearLastWords(): () => string {
  const output = (globalThis as unknown as { fs: Output }).fs;
  const { writeSync } = output;
  const decoder = new TextDecoder();
  let line = "",
    words = "";
  output.writeSync = function (descriptor, bytes) {
    if (!words) {
      const lines = (line + decoder.decode(bytes, { stream: true })).split("\n");
      line = lines.pop()!.slice(-longestLine);
      // The stacks of all goroutines follow.
      words = lines.map((text) => /^(?:panic|fatal error|runtime): (.+)/.exec(text)?.[1]).find(Boolean) ?? "";
    }
    return writeSync.call(this, descriptor, bytes);
  };
  return () => words;
}

/** outOfMemory says whether a sentence, of Go's or of the browser's, means that memory has run out. */
export const outOfMemory = (words: string): boolean => /out of memory|(?:cannot|could not) allocate/i.test(words);
