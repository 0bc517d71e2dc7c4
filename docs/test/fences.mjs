// The fenced blocks of a Markdown page: what the tests run, compile and check.
//
//   ```console        a session: "$ " commands with what they print on standard output (or
//                     error, where that is all), ">>> " lines that a command is given
//   ```go [main.go]   a file of that name, written before what follows is run
//   ```ts, ```js      checked against the package's types, where it imports something
//   ```sh             shown only: what needs a network, a large model or a person
//
// In what is printed, a line "..." stands for any number of lines, and … within a
// line for anything.

/** fences lists the blocks of a page: language, name in brackets, text and line. */
export function fences(markdown) {
  const found = [];
  let open = null;
  for (const [i, line] of markdown.split("\n").entries()) {
    if (open) {
      if (line.trim() === open.fence) {
        found.push({ ...open, text: open.lines.join("\n") });
        open = null;
      } else {
        open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
      }
      continue;
    }
    const start = /^( *)(```+)(\w*)[^[]*(?:\[(.*)\])?/.exec(line);
    if (start) open = { indent: start[1], fence: start[2], language: start[3], name: start[4], line: i + 2, lines: [] };
  }
  return found;
}

/** steps splits a session into commands with their input and what they print. */
export function steps({ text, line }) {
  const found = [];
  for (const [i, row] of text.split("\n").entries()) {
    const last = found.at(-1);
    if (row.startsWith("$ "))
      found.push({ command: row.slice(2), input: [], output: [], line: line + i, open: row.endsWith("\\") });
    else if (last?.open) {
      last.command += `\n${row}`;
      last.open = row.endsWith("\\");
    } else if (row.startsWith(">>> ")) last?.input.push(row.slice(4));
    else if (row !== "" || last?.output.length) last?.output.push(row);
  }
  for (const step of found) while (step.output.at(-1) === "") step.output.pop();
  return found;
}

const pattern = (line) =>
  new RegExp(
    `^${line
      .split("…")
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join(".*")}$`,
  );

/** matches compares what was printed with what the page says. */
export function matches(wanted, got) {
  if (wanted.length === 0) return got.length === 0;
  const [first, ...rest] = wanted;
  if (first === "...") {
    for (let skip = 0; skip <= got.length; skip++) if (matches(rest, got.slice(skip))) return true;
    return false;
  }
  return got.length > 0 && pattern(first).test(got[0].trimEnd()) && matches(rest, got.slice(1));
}
