// Measures what a first visit costs over a slow network, and the second: `npm run first-load`, or
// `npm run first-load -- --model FILE --mbit 20`. It prints a table: seconds, and the megabytes that have come by then,
// until the model is ready, until the first word of an answer, until the rest of the model's file has come, and until
// the service worker has kept everything. The app is the build in dist, served by bin/gemwire as readers' servers
// would, compressed; FILE stands in the built-in model's place. It fails where the first word waited for all of a file
// whose towers stand last, where something came twice, or where the second visit asked for the model again.
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { launchWithProfile } from "./chromium.mjs";
import { gemwireServe, program } from "./gemwireServe.mjs";
import { slowLink } from "./slowLink.mjs";
import { Visitor } from "./visitor.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { values } = parseArgs({
  options: {
    app: { type: "string", default: here("../dist") },
    model: { type: "string", default: here("../../../gemma4/nano/nano.gguf") },
    mbit: { type: "string", default: "20" },
  },
});

/** Where the towers begin in a model's file, null where something of the text stands behind them. */
function towersAt(path) {
  const { tensors } = JSON.parse(
    execFileSync(program, ["inspect", "--json", path], { encoding: "utf8", maxBuffer: 1 << 26 }),
  );
  const inTower = ({ name }) => /^(v|a|mm)\./.test(name);
  const inOrder = tensors.toSorted((a, b) => a.offset - b.offset);
  const first = inOrder.findIndex(inTower);
  return first >= 0 && inOrder.slice(first).every(inTower) ? inOrder[first].offset : null;
}

const folder = mkdtempSync(join(tmpdir(), "gemwire-first-load-"));
const app = join(folder, "app");
cpSync(values.app, app, { recursive: true });
const builtIn = readdirSync(join(app, "assets")).find((name) => /^nano-[\w-]+\.gguf$/.test(name));
copyFileSync(values.model, join(app, "assets", builtIn));

const served = await gemwireServe("--app", app);
const link = await slowLink(served.origin, (Number(values.mbit) * 1e6) / 8);
// A profile on disk, since a private window has a small cache in memory.
const context = await launchWithProfile(join(folder, "profile"), { viewport: { width: 1280, height: 800 } });
context.setDefaultTimeout(300_000);
const visitor = new Visitor(context, link);

const kinds = { model: /\.gguf$/, engine: /\.wasm$/, app: /./ };
const kindOf = ({ pathname }) => Object.keys(kinds).find((kind) => kinds[kind].test(pathname));
const bytesOf = (kind, from) =>
  link.answers
    .slice(from)
    .filter((one) => kindOf(one) === kind)
    .reduce((sum, { bytes }) => sum + bytes, 0);
const megabytes = (bytes) => (bytes / 1e6).toFixed(1).padStart(8);

let visitBegan, answersBefore;
const begin = () => {
  visitBegan = performance.now();
  answersBefore = link.answers.length;
};
function row(name) {
  const seconds = (performance.now() - visitBegan) / 1000;
  const bytes = Object.keys(kinds).map((kind) => bytesOf(kind, answersBefore));
  const all = bytes.reduce((sum, one) => sum + one, 0);
  console.log(`${name.padEnd(40)}${seconds.toFixed(1).padStart(7)} s${[all, ...bytes].map(megabytes).join("")}`);
  return { seconds, model: bytes[0] };
}

const until = async (true_) => {
  while (!true_()) await new Promise((resolve) => setTimeout(resolve, 20));
};
const modelCame = () => link.answers.some((one) => one.done && kindOf(one) === "model");
const quiet = async () => {
  for (let still = 0, before = -1; still < 20;) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const now = link.answers.reduce((sum, { bytes }) => sum + bytes, link.answers.length);
    still = now === before ? still + 1 : 0;
    before = now;
  }
};
const firstWord = async (question) => {
  await visitor.type(question);
  await visitor.answers().locator(".prose").filter({ hasText: /\w/ }).last().waitFor();
};

const size = statSync(values.model).size;
const towers = towersAt(values.model);
console.log(
  `${values.model}: ${(size / 1e6).toFixed(1)} MB, ` +
    (towers ? `of which the first ${(towers / 1e6).toFixed(1)} are text` : "in which text stands behind towers"),
);
console.log(`${values.mbit} Mbit/s, ${availableParallelism()} cores, Chromium ${context.browser()?.version() ?? ""}`);
console.log(`${"".padEnd(49)}${["MB", ...Object.keys(kinds)].map((name) => name.padStart(8)).join("")}`);

/** Both visits; what was wrong with them. */
async function visits() {
  begin();
  const page = await visitor.open("", { ready: false });
  await page.getByLabel("Message", { exact: true }).waitFor();
  row("first visit: a question can be typed");
  await visitor.ready();
  row("the model is ready");
  await firstWord("What is the capital of France?");
  const word = row("the first word of the answer");
  await until(modelCame);
  row("the towers have come");
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    while (!navigator.serviceWorker.controller) await new Promise((resolve) => setTimeout(resolve, 20));
  });
  const kept = row("all is kept for the next visit");
  await visitor.answered();
  await quiet();
  const came = link.answers.map(({ pathname }) => pathname);
  const twice = came.filter((path, index) => came.indexOf(path) !== index && link.answers[index].bytes > 100_000);

  await page.close();
  begin();
  await visitor.open("", { ready: false });
  await visitor.ready();
  row("second visit: the model is ready");
  await firstWord("What is the capital of Austria?");
  const again = row("the first word of the answer");
  await visitor.answered();

  return [
    towers !== null && word.model >= size && "the first word came after the whole file",
    kept.model > size && "the model came more than once",
    twice.length > 0 && `came twice: ${twice}`,
    again.model > 0 && "the second visit asked for the model again",
    ...visitor.errors,
  ].filter(Boolean);
}

try {
  const faults = await visits();
  for (const fault of faults) console.log(`FAIL ${fault}`);
  process.exitCode = faults.length > 0 ? 1 : 0;
} finally {
  await context.close();
  await link.close();
  await served.close();
  rmSync(folder, { recursive: true });
}
