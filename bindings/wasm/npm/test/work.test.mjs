// Counts the work of each phase in the tab, which noise does not move, and holds
// it to testdata/browser-work.json: a figure that grew is an error.
//
//   GEMWIRE_WRITE_WORK=1 node test/run.mjs work     keeps the new figures, where a change is right
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { attempt, root, start } from "./browser.mjs";

const committed = join(root, "testdata/browser-work.json");
// The calls of a phase vary by a few with the moment at which a promise is kept.
const callsMayVary = 0.02;
const fewCalls = 20;

let env, page;
before(async () => {
  env = await start({ folders: { "/media": join(root, "testdata/conformance/nano") } });
  page = await env.page();
});
after(() => env?.stop());

// phases is in the page: it counts what each takes of the worker.
async function phases() {
  const worker = new Worker("/counting_worker.js", { type: "module" });
  const hear = (name) =>
    new Promise((resolve) => {
      const listen = ({ data }) => {
        if (!(name in data)) return;
        worker.removeEventListener("message", listen);
        resolve(data[name]);
      };
      worker.addEventListener("message", listen);
    });
  await hear("ready");
  const sums = async () => {
    await new Promise((resolve) => setTimeout(resolve, 100)); // what was posted last is still answered
    const answer = hear("counts");
    worker.postMessage({ counts: true });
    return answer;
  };
  const found = {};
  const count = async (phase, work) => {
    const before = await sums(),
      begun = performance.now();
    const result = await work();
    console.log(`${phase}: ${Math.round(performance.now() - begun)} ms`);
    const after = await sums();
    found[phase] = Object.fromEntries(Object.keys(after).map((key) => [key, after[key] - before[key]]));
    return result;
  };
  const silent = { temperature: 0, maxTokens: 1 };
  const say = async (content, options) => {
    for await (const event of model.chat([{ role: "user", content }], { ...silent, ...options }))
      if (event.type === "done") return event.usage;
  };
  const picture = async (name) => [
    { type: "image", image: await (await fetch(`/media/${name}`)).blob() },
    { type: "text", text: "What is this?" },
  ];
  const long = "The cat sat on the mat and saw the dog. ".repeat(12);

  const model = await count("load", () => gemwire.Model.load(gemwire.nano, { device: "gpu", context: 512, worker }));
  await count("first prefill", () => say(long));
  await model.reset();
  await count("prefill", () => say(long));
  await model.reset();
  // Hot sampling hardly ever ends by itself.
  const usage = await count("prefill and 32 tokens", () =>
    say(long, { temperature: 5, topK: 0, topP: 1, seed: 1, maxTokens: 33 }),
  );
  await model.reset();
  await count("first image", async () => say(await picture("scene0.png")));
  await model.reset();
  await count("image", async () => say(await picture("scene1.png")));
  const training = (steps) => async () => {
    const session = await gemwire.TrainingSession.prepare(
      model,
      JSON.stringify({ prompt: "What color is the boat?", completion: "The boat is purple." }),
      {
        rank: 4,
        targets: ["q", "v", "down"],
        learningRate: 1e-2,
        schedule: "constant",
        steps,
      },
    );
    for await (const _ of session) {
      /* all steps */
    }
    await session.close();
  };
  await count("first training", training(1));
  await count("train 1 step", training(1));
  await count("train 2 steps", training(2));
  await model.close();
  worker.terminate();
  return { kind: model.info.deviceName, tokens: usage.answerTokens, phases: found };
}

// perStep is what one more of n costs, by two phases of which one has n more.
const perStep = (more, fewer, n) =>
  Object.fromEntries(Object.keys(more).map((key) => [key, Math.round(((more[key] - fewer[key]) / n) * 100) / 100]));

function summary({ kind, tokens, phases: found }) {
  return {
    kind,
    phases: {
      load: found.load,
      "first prefill": found["first prefill"],
      prefill: found.prefill,
      "decode, a token": perStep(found["prefill and 32 tokens"], found.prefill, tokens - 1),
      "first image": found["first image"],
      image: found.image,
      "first training": found["first training"],
      "training of one step": found["train 1 step"],
      "one more step": perStep(found["train 2 steps"], found["train 1 step"], 1),
    },
  };
}

const mayBe = (figure, was) =>
  figure === "calls" ? Math.max(was * (1 + callsMayVary), was + (was > 100 ? fewCalls : 0.5)) : was;

test("no phase asks more of JavaScript and the GPU than it did", { timeout: 380_000 }, async (t) => {
  // The first visit checks kernels, once for each browser profile; what is counted is a later one.
  const firstVisit = await attempt(page, phases);
  assert.equal(firstVisit.error, undefined, JSON.stringify(firstVisit.error));
  const { value, error } = await attempt(page, phases);
  assert.equal(error, undefined, JSON.stringify(error));
  const got = summary(value);
  if (process.env.GEMWIRE_WRITE_WORK === "1") return await writeFile(committed, JSON.stringify(got, null, 2) + "\n");
  const want = JSON.parse(await readFile(committed, "utf8"));
  if (want.kind !== got.kind) return t.skip(`the figures are those of ${want.kind}, and this is ${got.kind}`);
  const grew = [],
    fell = [];
  for (const [phase, figures] of Object.entries(want.phases)) {
    for (const [name, was] of Object.entries(figures)) {
      const is = got.phases[phase][name];
      if (is > mayBe(name, was)) grew.push(`${phase}: ${name} ${is}, before ${was}`);
      else if (is < was && was > mayBe(name, is)) fell.push(`${phase}: ${name} ${is}, before ${was}`);
    }
  }
  for (const line of fell) t.diagnostic(`less than before: ${line}`);
  assert.deepEqual(
    grew,
    [],
    "where that is right, GEMWIRE_WRITE_WORK=1 writes testdata/browser-work.json anew; say why in the commit",
  );
});
