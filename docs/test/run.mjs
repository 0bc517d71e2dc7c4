// Tests the documentation: its sessions are run, its programs compiled and checked,
// the links of the built site followed.
//
//   node test/run.mjs [sessions|types|links]... [PAGE...]
import { spawnSync } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { checkLinks } from "./links.mjs";
import { runSessions } from "./sessions.mjs";
import { checkTypes } from "./types.mjs";

const docs = resolve(import.meta.dirname, "..");
const root = resolve(docs, "..");

/** Pages of docs/, and those READMEs that have sessions or imports. */
async function pages() {
  const own = (await readdir(docs, { recursive: true })).filter(
    (name) => name.endsWith(".md") && !/(^|\/)(node_modules|dist|packages|\.vitepress)\/|^contributing\.md$/.test(name),
  );
  return [...own.map((name) => join(docs, name)), join(root, "bindings/wasm/npm/README.md")].sort();
}

const asked = process.argv.slice(2);
const kinds = asked.filter((word) => ["sessions", "types", "links"].includes(word));
const named = asked.filter((word) => !kinds.includes(word)).map((word) => resolve(word));
const wants = (kind) => kinds.length === 0 || kinds.includes(kind);
const chosen = named.length > 0 ? named : await pages();
const faults = [];

/** report prints a line for a part of the tests and keeps its faults. */
function report(what, start, found) {
  console.log(`${found.length === 0 ? "ok  " : "FAIL"} ${what} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  faults.push(...found);
}

if (wants("sessions")) {
  if (spawnSync(join(root, "bin/gemwire"), ["version"]).status !== 0)
    throw new Error("bin/gemwire does not run: make build");
  for (const page of chosen) {
    const start = performance.now();
    const { commands, faults: found } = await runSessions(page, root);
    if (commands > 0) report(`${relative(root, page)}: ${commands} commands`, start, found);
  }
}
if (wants("types")) {
  const start = performance.now();
  const { count, faults: found } = await checkTypes(chosen, root);
  report(`${count} programs in TypeScript and JavaScript`, start, found);
}
if (wants("links")) {
  const start = performance.now();
  const { count, pages: read, faults: found } = await checkLinks(join(docs, "dist"), root);
  report(`${count} links of ${read} pages`, start, found);
}
if (faults.length > 0) {
  console.log(`\n${faults.join("\n\n")}`);
  process.exit(1);
}
