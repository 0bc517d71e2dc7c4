// Training in the tab, on the CPU path; training-gpu.test.mjs has the GPU's.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { attempt, root, start } from "./browser.mjs";
import { inPage } from "./training.mjs";

let env, page;
const folder = mkdtempSync(join(tmpdir(), "gemwire-training-"));
const command = join(folder, "command");
before(async () => {
  execFileSync("go", ["build", "-o", command, "./tools/cmd/gemwire"], { cwd: root, stdio: "inherit" });
  env = await start({ folders: { "/native": folder } });
  page = await env.page();
  await inPage(page, "cpu");
});
after(async () => {
  await env?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = async (work, argument) => {
  const { value, error } = await attempt(page, work, argument);
  assert.equal(error, undefined, JSON.stringify(error));
  return value;
};
const refused = async (code, work, argument) => {
  const { error } = await attempt(page, work, argument);
  assert.equal(error?.code, code, JSON.stringify(error));
  assert.ok(code === "cancelled" || error.message.length > 15, error.message);
  return error;
};

// The page's model, which is not the command's built-in one.
const small = ["--model", join(root, "testdata/conformance/nano/nano.gguf")];
const gemwire = (...args) => execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

test("a preview marks what is learnt, and names bad lines and cut ones", async () => {
  const { report, examples } = await run(() =>
    TrainingSession.preview(model, `${boat}\n{}\n{"text": "${"word ".repeat(60)}"}\nno JSON`, { maxLength: 30 }),
  );
  assert.deepEqual(
    report.bad.map(({ line }) => line),
    [2, 4],
  );
  assert.deepEqual(
    report.cut.map(({ line }) => line),
    [3],
  );
  assert.equal(report.examples, 2);
  assert.deepEqual(
    examples[0].pieces.map(({ target }) => target),
    [false, true],
  );
  assert.match(examples[0].pieces[0].text, /^<bos>.*What color is the boat\?/s);
  assert.equal(examples[0].pieces[1].text, "The boat is purple.<turn|>");
  assert.equal(examples[0].targets, 5);
  assert.ok(examples[1].cut > 0);
});

test("a line is learnt within 200 steps, said, exported, and said by the command", async (t) => {
  const result = await run(async () => {
    const session = await TrainingSession.prepare(model, boat, {
      rank: 8,
      learningRate: 5e-3,
      steps: 200,
      schedule: "constant",
    });
    const { plan, report, settings } = session;
    const events = [];
    for await (const event of session) {
      events.push(event);
      if (event.type === "step" && event.loss < 0.005) break;
    }
    const steps = events.filter((event) => event.type === "step");
    const used = await session.use("boat");
    const said = await answer("What color is the boat?");
    globalThis.files = { peft: await session.export(), gguf: await session.export({ format: "gguf", name: "boat" }) };
    const kept = await session.keep("boat");
    const state = session.state;
    await session.close();
    return {
      plan,
      report,
      settings,
      steps,
      used,
      said,
      state,
      kept,
      files: await Promise.all([...files.peft, ...files.gguf].map(spell)),
    };
  });
  const last = result.steps.at(-1);
  t.diagnostic(
    `${result.steps.length} steps, the last ${last.milliseconds.toFixed(0)} ms and a loss of ${last.loss.toFixed(4)}`,
  );
  assert.equal(result.plan.saved + result.plan.recomputed, result.plan.layers);
  assert.ok(result.plan.bytes > 1e6 && result.plan.parameters > 1e5);
  assert.deepEqual(result.report, {
    examples: 1,
    heldOut: 0,
    tokens: 20,
    targets: 5,
    bad: [],
    cut: [],
    heldOutLines: [],
  });
  assert.equal(result.settings.alpha, 16);
  assert.deepEqual(result.settings.targets, ["q", "k", "v", "output", "gate", "up", "down"]);
  assert.ok(last.loss < 0.01 && last.step <= 200, JSON.stringify(last));
  assert.ok(
    last.tokensPerSecond > 0 && last.secondsLeft > 0 && last.memoryBytes > 1e6 && last.gradientNorm > 0,
    JSON.stringify(last),
  );
  assert.equal(result.state, "paused");
  assert.deepEqual({ ...result.used, parameters: 0 }, { name: "boat", weight: 1, parameters: 0 });
  assert.equal(result.said, "The boat is purple.");
  assert.deepEqual(result.files.map(({ name }) => name).sort(), [
    "adapter_config.json",
    "adapter_model.safetensors",
    "boat.gguf",
  ]);
  assert.equal(result.kept.name, "boat");
  for (const { name, base64 } of result.files) writeFileSync(join(folder, name), Buffer.from(base64, "base64"));
  for (const adapter of [folder, join(folder, "boat.gguf")]) {
    const inspected = JSON.parse(gemwire("adapter", "inspect", adapter, "--json"));
    assert.equal(inspected.parameters, result.used.parameters);
    assert.equal(
      gemwire("run", ...small, "--device", "cpu", "--greedy", "--lora", adapter, "What color is the boat?"),
      "The boat is purple.\n",
    );
  }
});

test("adapters are loaded from files, addresses and OPFS, mixed, switched and forgotten", async () => {
  const question = "What color is the boat?";
  const base = await run(async (question) => {
    await model.clearAdapters();
    await model.unloadAdapter("boat");
    return answer(question);
  }, question);
  assert.notEqual(base, "The boat is purple.");
  // What the command trains is said here.
  writeFileSync(
    join(folder, "kite.jsonl"),
    `{"prompt": "What color is the kite?", "completion": "The kite is green."}\n`,
  );
  gemwire(
    "train",
    join(folder, "kite.jsonl"),
    ...small,
    "--device",
    "cpu",
    "-o",
    join(folder, "kite"),
    "--rate",
    "5e-3",
    "--linears",
    "q,v,down",
    "--rank",
    "4",
    "--steps",
    "25",
    "--keep",
    "none",
  );
  const said = await run(async (question) => {
    const one = async (source, options) => {
      const { name } = await model.loadAdapter(source, options);
      await model.useAdapters([{ name }]);
      return { name, text: await answer(question) };
    };
    const said = [
      await one(files.peft, { name: "of two files" }),
      await one(files.gguf[0]),
      await one({ opfs: "boat" }, { name: "kept" }),
    ];
    await model.loadAdapter("/native/kite/");
    const missing = await model.loadAdapter("/native/nothing.gguf").catch(({ code, message }) => ({ code, message }));
    if (missing.code !== "not-found" || !missing.message.includes("nothing.gguf"))
      throw new Error(`an adapter that is not there: ${JSON.stringify(missing)}`);
    await model.useAdapters([{ name: "kite" }]);
    const kite = await answer("What color is the kite?");
    await model.useAdapters([{ name: "kept", weight: 0.9 }, { name: "kite" }]);
    const list = await model.adapters();
    await model.unloadAdapter("of two files");
    await model.clearAdapters();
    return { said, kite, list, base: await answer(question), after: await model.adapters() };
  }, question);
  assert.deepEqual(
    said.said.map(({ text }) => text),
    Array(3).fill("The boat is purple."),
  );
  assert.equal(said.kite, "The kite is green.");
  assert.deepEqual(
    Object.fromEntries(
      said.list.filter(({ weight }) => weight).map(({ name, weight }) => [name, Math.round(weight * 10) / 10]),
    ),
    { kept: 0.9, kite: 1 },
  );
  assert.equal(said.base, base);
  assert.ok(said.after.every(({ name, weight }) => weight === 0 && name !== "of two files"));
});

test("adapters in OPFS are listed, renamed, exported and deleted", async () => {
  const result = await run(async () => {
    await adapters.import(files.peft, { name: "other" });
    await adapters.import(files.gguf[0], { name: "other" });
    const before = await adapters.list();
    const renamed = await adapters.rename("other", "third");
    const peft = await adapters.export("third");
    const same = new Uint8Array(await peft.find(({ name }) => name.endsWith(".safetensors")).arrayBuffer());
    const first = new Uint8Array(await files.peft.find(({ name }) => name.endsWith(".safetensors")).arrayBuffer());
    await adapters.delete("third");
    return {
      before: before.map(({ name }) => name),
      renamed: renamed.name,
      equal: same.length === first.length && same.every((b, i) => b === first[i]),
      after: (await adapters.list()).map(({ name }) => name),
    };
  });
  assert.deepEqual(result, { before: ["boat", "other"], renamed: "third", equal: true, after: ["boat"] });
});

test("what cannot be trained or loaded is refused", async () => {
  const bad = await refused("bad-data", () => TrainingSession.prepare(model, `${boat}\n{}\n`));
  assert.match(bad.message, /line 2:/);
  await refused("bad-data", () => TrainingSession.prepare(model, []));
  await refused("bad-argument", () => TrainingSession.prepare(model, boat, { rank: -1 }));
  await refused("bad-argument", () => TrainingSession.prepare(model, boat, { targets: ["x"] }));
  await refused("bad-argument", () => TrainingSession.prepare(model, boat, { precision: "f8" }));
  await refused("bad-argument", () => TrainingSession.prepare(model, boat, { memoryBudget: 1e5 }));
  await refused("bad-argument", () => TrainingSession.prepare(model, 7));
  await refused("not-found", () => TrainingSession.resume(model, "never begun"));
  await refused("bad-adapter", () => model.loadAdapter(files.peft[0]));
  await refused("bad-adapter", () => model.loadAdapter(new Blob(["no adapter"])));
  await refused("bad-adapter", () => adapters.import(new Blob(["GGUF"]), { name: "no adapter" }));
  await refused("bad-argument", () => model.useAdapters([{ name: "never loaded" }]));
  await refused("not-found", () => model.loadAdapter({ opfs: "never kept" }));
  await refused("not-found", () => model.loadAdapter("/native/missing.gguf"));
  await refused("cancelled", () => TrainingSession.prepare(model, boat, { signal: AbortSignal.abort() }));
  assert.deepEqual(await run(async () => (await adapters.list()).map(({ name }) => name)), ["boat"]);
  const skipped = await run(async () => {
    const session = await TrainingSession.prepare(model, `${boat}\n{}\n`, { badLines: "skip" });
    await session.close();
    return session.report.bad.length;
  });
  assert.equal(skipped, 1);
});

test("a run keeps to its memory", async () => {
  const [free, bound] = await run(async () => {
    const prepared = async (options) => {
      const session = await TrainingSession.prepare(model, boat, { ...quick, steps: 1, ...options });
      const { loss } = await session.start();
      await session.close();
      return { loss, plan: session.plan, settings: session.settings };
    };
    const free = await prepared({});
    return [free, await prepared({ precision: "f32", memoryBudget: free.plan.bytes * 0.75 })];
  });
  assert.deepEqual(
    [free.settings.precision, free.settings.memoryBudget, free.plan.recomputed, free.plan.halves],
    ["auto", 0, 0, false],
  );
  assert.deepEqual(
    [bound.settings.precision, bound.settings.memoryBudget],
    ["f32", Math.floor(free.plan.bytes * 0.75)],
  );
  assert.ok(bound.plan.bytes <= bound.settings.memoryBudget && bound.plan.recomputed > 0, JSON.stringify(bound.plan));
  assert.equal(bound.loss, free.loss);
});

test("pause, resume and stop; the page stays live and the model answers meanwhile", async () => {
  const result = await run(async () => {
    const events = [];
    const session = await TrainingSession.prepare(model, boat, {
      ...quick,
      steps: 500,
      onEvent: (event) => events.push(event),
    });
    const second = await TrainingSession.prepare(model, boat).catch((error) => error.code);
    let longest = 0,
      last = performance.now();
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 5);
    const ended = session.start();
    await until(() => session.step >= 2);
    const meanwhile = await answer("What is the capital of France?");
    await session.pause();
    const paused = session.step;
    const whilePaused = await answer("What is the capital of France?");
    const still = session.step;
    session.resume();
    await until(() => session.step > paused);
    const stopped = await session.stop();
    clearInterval(timer);
    const files = await session.export();
    await session.close();
    return {
      second,
      meanwhile,
      whilePaused,
      paused,
      still,
      stopped,
      same: await ended,
      files: files.length,
      longest,
      state: session.state,
      types: events.map(({ type }) => type).filter((type) => type !== "step"),
      steps: events.filter(({ type }) => type === "step").map(({ step }) => step),
    };
  });
  assert.equal(result.second, "busy");
  assert.equal(result.meanwhile, "The capital of France is Paris.");
  assert.equal(result.whilePaused, result.meanwhile);
  assert.equal(result.paused, result.still);
  assert.equal(result.stopped.reason, "stopped");
  assert.deepEqual(result.same, result.stopped);
  assert.ok(result.stopped.steps > result.paused && result.stopped.steps < 500, JSON.stringify(result.stopped));
  assert.deepEqual(result.types, ["paused", "resumed", "done"]);
  assert.deepEqual(
    result.steps,
    result.steps.map((_, i) => i + 1),
  );
  assert.equal(result.files, 2);
  assert.equal(result.state, "closed");
});

test("without a worker the page has its turns while it trains", async () => {
  const steps = 3;
  const turns = await run(async (steps) => {
    const { serve } = await import("/dist/worker.js");
    const other = await Model.load(gemwire.nano, { device: "cpu", worker: serve });
    const session = await TrainingSession.prepare(other, boat, { ...quick, steps });
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await session.start();
    clearInterval(timer);
    await session.close();
    await other.close();
    return turns;
  }, steps);
  // How many depends on the machine: one is due every 16 ms of computing.
  assert.ok(turns >= steps, `${turns} turns in ${steps} steps`);
});

test("a run goes on from its checkpoint after a reload, with the same losses", async () => {
  const whole = await run(async () => {
    const session = await TrainingSession.prepare(model, boat, { ...quick, steps: 8 });
    const losses = [];
    for await (const event of session) if (event.type === "step") losses.push(event.loss);
    await session.close();
    return losses;
  });
  await run(async () => {
    const session = await TrainingSession.prepare(model, boat, {
      ...quick,
      steps: 8,
      name: "reloaded",
      checkpointEvery: 3,
    });
    const taken = new Promise((resolve) => {
      void (async () => {
        for await (const event of session) if (event.type === "checkpoint") resolve();
      })().catch(() => {});
    });
    await taken;
  });
  await page.reload();
  await inPage(page, "cpu");
  const { runs, busy, losses, step, states, left } = await run(async () => {
    const runs = await TrainingSession.saved();
    const session = await TrainingSession.resume(model, "reloaded");
    const busy = await TrainingSession.resume(model, "reloaded").catch((error) => error.code);
    const step = session.step,
      losses = [],
      states = [session.state];
    for await (const event of session) if (event.type === "step") losses.push(event.loss);
    states.push(session.state);
    await session.close();
    return { runs, busy, losses, step, states, left: await TrainingSession.saved() };
  });
  assert.equal(runs.length, 1);
  assert.equal(runs[0].name, "reloaded");
  assert.ok(runs[0].step >= 3 && runs[0].steps === 8 && runs[0].size > 1e5, JSON.stringify(runs));
  assert.equal(busy, "busy");
  assert.equal(step, runs[0].step);
  assert.deepEqual(states, ["ready", "done"]);
  assert.equal(losses.length, 8 - step);
  for (const [i, loss] of losses.entries())
    assert.ok(
      Math.abs(loss - whole[step + i]) <= 1e-6 * whole[step + i],
      `step ${step + i + 1}: ${loss}, wanted ${whole[step + i]}`,
    );
  assert.deepEqual(left, []);
});

test("a run killed at 20 random moments goes on from a whole checkpoint each time", async (t) => {
  const seed = Number(process.env.GEMWIRE_KILL_SEED ?? Math.floor(Math.random() * 2 ** 32)),
    random = randomOf(seed);
  t.diagnostic(`GEMWIRE_KILL_SEED=${seed}`);
  const lives = [];
  for (let life = 0; life < 20; life++)
    lives.push(await run(liveAndDie, { first: life === 0, writing: life % 2 === 0, part: random() }));
  const rest = await run(async () => {
    const session = await TrainingSession.resume(model, "killed");
    const from = session.step,
      losses = {};
    for await (const event of session)
      if (event.type === "step" && (losses[event.step] = event.loss) && event.step > from + 1) break;
    await session.close({ keepCheckpoint: false });
    return { from, losses };
  });
  t.diagnostic(
    `${lives.filter(({ seen, kept }) => seen > kept).length} times while a checkpoint was written; resumed ` +
      `after steps ${[...lives.slice(1), rest].map(({ from }) => from).join(", ")}`,
  );
  const losses = {};
  for (const [i, { from, losses: made }] of [...lives, rest].entries()) {
    const before = lives[i - 1] ?? { kept: 0, seen: 0 };
    assert.ok(
      from >= before.kept && from <= before.seen + 1,
      `resumed after step ${from}: ${before.kept} were kept and ${before.seen} seen`,
    );
    // A step that was made twice came out the same.
    for (const [step, loss] of Object.entries(made))
      assert.ok(
        Math.abs(loss - (losses[step] ??= loss)) <= 1e-6 * loss,
        `step ${step}: ${loss}, before ${losses[step]}`,
      );
  }
  assert.deepEqual(await run(() => TrainingSession.saved()), []);
});

/** randomOf is Marsaglia's xorshift, as numbers from 0 up to 1. */
function randomOf(seed) {
  let x = (seed ^ 0x9e3779b9) | 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) / 2 ** 32;
  };
}

/**
 * liveAndDie, in the page, trains in a frame, which has a worker of its own, and
 * takes the frame away at a part of the way through a step, or through the writing
 * of its checkpoint.
 */
async function liveAndDie({ first, writing, part }) {
  const frame = document.createElement("iframe");
  frame.src = location.href;
  document.body.append(frame);
  await until(() => frame.contentWindow.gemwire);
  const { Model, TrainingSession } = frame.contentWindow.gemwire;
  const inFrame = await Model.load(gemwire.nano, { device: "cpu" });
  const life = { from: 0, kept: 0, seen: 0, losses: {} };
  const lasts = { step: 0, checkpoint: 0 };
  let at = performance.now(),
    death = Infinity;
  const onEvent = ({ type, step, loss }) => {
    if (type !== "step" && type !== "checkpoint") return;
    const now = performance.now();
    lasts[type] = now - at;
    at = now;
    if (type === "step") life.losses[(life.seen = step)] = loss;
    else life.kept = step;
    // The first checkpoint of a life is waited for: a moment is a part of what its step and its writing lasted.
    if (life.kept > life.from && (type === "step") === writing)
      death = Math.min(death, now + part * lasts[writing ? "checkpoint" : "step"]);
  };
  const session = first
    ? await TrainingSession.prepare(inFrame, boat, {
        ...quick,
        steps: 1000,
        name: "killed",
        checkpointEvery: 1,
        onEvent,
      })
    : await TrainingSession.resume(inFrame, "killed", { checkpointEvery: 1, onEvent });
  life.from = life.kept = life.seen = session.step;
  void session.start().catch(() => {});
  await until(() => death < Infinity);
  const { port1, port2 } = new MessageChannel(); // whose turns come sooner than a timer's
  while (performance.now() < death)
    await new Promise((turn) => {
      port1.onmessage = turn;
      port2.postMessage(null);
    });
  frame.remove();
  return life;
}

test("a checkpoint that a crash has spoilt gives way to the one before", async () => {
  const { step, gone, none } = await run(async () => {
    const session = await TrainingSession.prepare(model, boat, {
      ...quick,
      steps: 4,
      name: "spoilt",
      checkpointEvery: 1,
    });
    let taken = 0;
    for await (const event of session) if (event.type === "checkpoint" && ++taken === 2) break;
    await session.checkpoint();
    await session.close();
    const root = await navigator.storage.getDirectory();
    const dir = await (
      await (await root.getDirectoryHandle("gemwire")).getDirectoryHandle("training")
    ).getDirectoryHandle("spoilt");
    // One of a later step, cut short, and half of one that was being written.
    const [name] = (await Array.fromAsync(dir.keys())).filter((name) => name.startsWith("checkpoint-"));
    const good = await (await dir.getFileHandle(name)).getFile();
    for (const [as, bytes] of [
      [name.replace(/-\d+-/, "-99-"), good.slice(0, good.size / 2)],
      ["checkpoint.new", good.slice(0, 100)],
    ]) {
      const file = await (await dir.getFileHandle(as, { create: true })).createWritable();
      await file.write(bytes);
      await file.close();
    }
    const resumed = await TrainingSession.resume(model, "spoilt");
    const step = resumed.step;
    await resumed.start();
    await resumed.close({ keepCheckpoint: true });
    await dir.removeEntry((await Array.fromAsync(dir.keys())).find((name) => name.startsWith("checkpoint-4-")));
    const gone = await TrainingSession.resume(model, "spoilt").catch((error) => error.code);
    await TrainingSession.deleteSaved("spoilt");
    return { step, gone, none: await TrainingSession.saved() };
  });
  assert.ok(step >= 2 && step < 4, `resumed after step ${step}`);
  assert.equal(gone, "bad-file");
  assert.deepEqual(none, []);
});

test("a taken name is refused before anything is read, and a run that is not prepared leaves nothing", async () => {
  const { taken, bad, busy, left, again } = await run(async () => {
    const failure = (promise) =>
      promise.then(
        () => null,
        ({ code, message }) => ({ code, message }),
      );
    const first = await TrainingSession.prepare(model, boat, { ...quick, steps: 2, name: "taken" });
    const busy = await failure(TrainingSession.prepare(model, "{}", { name: "taken" }));
    await first.start();
    await first.close({ keepCheckpoint: true });
    const taken = await failure(TrainingSession.prepare(model, "{}", { name: "taken" }));
    const bad = await failure(TrainingSession.prepare(model, "{}", { name: "another" }));
    const left = (await TrainingSession.saved()).map(({ name, steps }) => ({ name, steps }));
    const root = await (await navigator.storage.getDirectory()).getDirectoryHandle("gemwire");
    const folders = [];
    for await (const name of (await root.getDirectoryHandle("training")).keys()) folders.push(name);
    await TrainingSession.deleteSaved("taken");
    return { taken, bad, busy, left, again: folders };
  });
  assert.equal(busy.code, "busy");
  assert.match(taken.message, /kept here already/);
  assert.equal(bad.code, "bad-data");
  assert.deepEqual(left, [{ name: "taken", steps: 2 }]);
  assert.ok(!again.includes("another"), again.join());
});

test("the checkpoint of a run stays if its adapter could not be kept", async () => {
  const { refused, left, none } = await run(async () => {
    const train = async (name) => {
      const session = await TrainingSession.prepare(model, boat, { ...quick, steps: 2, name });
      await session.start();
      return session;
    };
    const lost = await train("lost");
    const refused = await lost.keep("a/../b").then(
      () => null,
      ({ code }) => code,
    );
    await lost.close();
    const left = (await TrainingSession.saved()).map(({ name, step }) => ({ name, step }));
    await TrainingSession.deleteSaved("lost");
    const kept = await train("kept");
    await kept.keep("kept in the end");
    await kept.close();
    await adapters.delete("kept in the end");
    return { refused, left, none: await TrainingSession.saved() };
  });
  assert.ok(refused, "a name that is no file's is refused");
  assert.deepEqual(left, [{ name: "lost", step: 2 }]);
  assert.deepEqual(none, []);
});

test("held-out examples are looked at, and a run that no longer helps them ends with the best adapter", async () => {
  const result = await run(async () => {
    const heldOut = [
      {
        messages: [
          { role: "user", content: "What is the capital of France?" },
          { role: "assistant", content: "The capital of France is Paris." },
        ],
      },
    ];
    const session = await TrainingSession.prepare(model, [JSON.parse(boat)], {
      ...quick,
      learningRate: 2e-2,
      steps: 40,
      heldOut,
      evaluateEvery: 1,
      patience: 2,
      name: "patient",
      checkpointEvery: 100,
    });
    const looks = [];
    for await (const event of session) if (event.type === "step") looks.push(event.heldOutLoss);
    const result = await session.start();
    const [best, last] = [await session.export({ which: "best" }), await session.export({ which: "last" })];
    const same = await Promise.all(
      [best, last].map(async (files) => spell(files.find(({ name }) => name.endsWith(".safetensors")))),
    );
    await session.close();
    return { looks, result, same: same[0].base64 === same[1].base64, heldOut: session.report.heldOut };
  });
  assert.equal(result.heldOut, 1);
  assert.equal(result.result.reason, "early-stop");
  assert.ok(result.looks.length < 40 && result.looks.every((loss) => loss > 0), JSON.stringify(result.looks));
  assert.equal(result.result.bestHeldOutLoss, Math.min(...result.looks));
  assert.equal(result.result.usesBest, true);
  assert.equal(result.same, false);
});

test("a run holds the model to what it makes up itself", async () => {
  const { events, plan, before, settings, refused } = await run(async () => {
    await model.loadAdapter({ opfs: "boat" }, { name: "in the way" });
    await model.useAdapters([{ name: "in the way" }]);
    const early = await TrainingSession.prepare(model, boat, { ...quick, keep: 2 });
    const refused = await early.start().catch((error) => error.code);
    await early.close();
    await model.clearAdapters();
    const events = [];
    const session = await TrainingSession.prepare(model, boat, {
      ...quick,
      steps: 2,
      keep: 3,
      name: "keeping",
      onEvent: (event) => events.push(event),
    });
    const before = session.plan.rehearsed;
    await session.start();
    await session.close({ keepCheckpoint: true });
    const resumed = await TrainingSession.resume(model, "keeping");
    const { plan, settings } = resumed;
    await resumed.close();
    await TrainingSession.deleteSaved("keeping");
    return { events, plan, before, settings, refused };
  });
  assert.equal(refused, "bad-argument");
  assert.equal(before, 0);
  const made = events.filter(({ type }) => type === "rehearsal");
  assert.deepEqual(
    made.slice(0, 3).map(({ done, total }) => [done, total]),
    [
      [0, 3],
      [1, 3],
      [2, 3],
    ],
  );
  assert.ok(made.at(-1).plan.rehearsed > 0 && made.at(-1).plan.rehearsed <= 3, JSON.stringify(made.at(-1)));
  assert.equal(plan.rehearsed, made.at(-1).plan.rehearsed);
  assert.equal(settings.keep, plan.rehearsed);
  assert.equal(typeof events.findLast(({ type }) => type === "step").divergence, "number");
});

test("an example may hold a picture", async () => {
  const report = await run(async () => {
    const canvas = new OffscreenCanvas(64, 64);
    canvas.getContext("2d").fillRect(0, 0, 64, 64);
    const image = await canvas.convertToBlob();
    const data = [
      {
        system: "Look.",
        messages: [
          {
            role: "user",
            content: [
              { type: "image", image },
              { type: "text", text: "What is this?" },
            ],
          },
          { role: "assistant", content: "A black square." },
        ],
      },
    ];
    const session = await TrainingSession.prepare(model, data, { ...quick, steps: 1 });
    const { loss } = await session.start();
    await session.close();
    return { ...session.report, loss };
  });
  assert.ok(report.tokens > 50, `${report.tokens} tokens`);
  assert.ok(report.loss > 0);
});
