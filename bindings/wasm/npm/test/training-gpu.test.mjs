// Training in the tab on the GPU, which SwiftShader plays here.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { attempt, start } from "./browser.mjs";
import { inPage } from "./training.mjs";

let env, page;
before(async () => {
  env = await start();
  page = await env.page();
  await inPage(page, "gpu");
});
after(() => env?.stop());

test("on the GPU a line is learnt within 200 steps and said, and what that took is given back", async (t) => {
  const { value, error } = await attempt(page, async () => {
    const before = await model.memory();
    const session = await TrainingSession.prepare(model, boat, { ...quick, steps: 200, name: "on the GPU" });
    const losses = [],
      milliseconds = [];
    let last;
    for await (const event of session) {
      if (event.type !== "step") continue;
      losses.push(event.loss);
      milliseconds.push(event.milliseconds);
      last = event;
      if (event.loss < 0.01) break;
    }
    const meanwhile = await answer("What is the capital of France?");
    await session.close();
    // Paused and closed, it goes on from its checkpoint.
    const resumed = await TrainingSession.resume(model, "on the GPU");
    const step = resumed.step;
    await resumed.use("boat");
    const said = await answer("What color is the boat?");
    const { reason } = await resumed.stop();
    await resumed.close();
    await model.clearAdapters();
    const base = await answer("What is the capital of France?");
    await model.unloadAdapter("boat");
    const after = await model.memory();
    return {
      device: model.info.device,
      plan: session.plan,
      losses,
      milliseconds,
      last,
      meanwhile,
      step,
      said,
      reason,
      base,
      before: before.gpu,
      after: after.gpu,
    };
  });
  assert.equal(error, undefined, JSON.stringify(error));
  t.diagnostic(
    `${value.losses.length} steps, the first ${Math.round(value.milliseconds[0])} ms, the last ` +
      `${Math.round(value.milliseconds.at(-1))} ms`,
  );
  assert.equal(value.device, "gpu");
  assert.ok(value.losses.at(-1) < 0.01 && value.losses.length <= 200, JSON.stringify(value.losses));
  assert.ok(value.plan.bytes > 0 && value.plan.saved === value.plan.layers);
  assert.ok(value.last.memoryBytes > 1e6);
  assert.equal(value.meanwhile, "The capital of France is Paris.");
  assert.ok(value.step >= value.losses.length, "the step under way when the loop was left is kept too");
  assert.equal(value.said, "The boat is purple.");
  assert.equal(value.reason, "stopped");
  assert.equal(value.base, value.meanwhile);
  // Small buffers to read through are kept for the next read.
  assert.ok(value.after.staging <= 1 << 20, JSON.stringify(value.after));
  assert.deepEqual({ ...value.after, staging: 0 }, { ...value.before, staging: 0 });
});
