import { beforeEach, describe, expect, it, vi } from "vitest";
import { withStorage } from "../../test/storage";
import { useAdapters } from "../adapters/adaptersStore";
import { builtin } from "../engine/choice";
import { useEngine } from "../engine/engineStore";
import { useRun } from "./runStore";

withStorage();

const data = '{"prompt":"Where is it?","completion":"Here."}\n';
const { prepare, start, pause, resume, stop, goOn, giveUp, leave } = useRun.getState();
const run = () => useRun.getState().run;
const shown = (): string => run().state;
const names = () => useAdapters.getState().adapters.map(({ name }) => name);
const step = () => {
  const now = run();
  return "last" in now ? (now.last?.step ?? 0) : 0;
};

beforeEach(async () => {
  await leave();
  await useEngine.getState().open(builtin);
});

describe("a run", () => {
  it("is planned, goes to its end, and is kept with what is known of it", async () => {
    await prepare(data, "a/b", { epochs: 12 });
    expect(run()).toMatchObject({ state: "prepared", name: "a-b", session: { plan: { steps: 12 } } });
    await start();
    expect(run()).toMatchObject({
      state: "done",
      name: "a-b",
      unkept: null,
      result: { reason: "finished", steps: 12 },
      last: { step: 12 },
    });
    const done = run();
    expect(done.state === "done" && done.curve.train.map((point) => point.step)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ]);
    expect(useAdapters.getState().adapters[0]).toMatchObject({ name: "a-b", base: "Scripted", heldOutLoss: null });
    expect(useAdapters.getState().adapters[0]?.loss).toBeLessThan(0.1);
  });

  it("does not take the name of another adapter", async () => {
    await prepare(data, "a-b", { epochs: 2 });
    await start();
    expect(names()).toContain("a-b 2");
  });

  it("pauses and goes on", async () => {
    await prepare(data, "paused", { epochs: 20 });
    const ended = start();
    await vi.waitUntil(() => step() > 2);
    await pause();
    expect(shown()).toBe("paused");
    const at = step();
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(step()).toBe(at);
    resume();
    await ended;
    expect(run()).toMatchObject({ state: "done", result: { steps: 20 } });
  });

  it("stops early, and keeps what was learned", async () => {
    await prepare(data, "stopped", { epochs: 500 });
    const ended = start();
    await vi.waitUntil(() => step() > 2);
    await stop();
    await ended;
    expect(run()).toMatchObject({ state: "done", result: { reason: "stopped" } });
    expect(names()).toContain("stopped");
  });

  it("ends in a sentence where it comes apart", async () => {
    await prepare(data.replace("Here", "diverge"), "bad", { epochs: 5 });
    await start();
    expect(run()).toMatchObject({
      state: "failed",
      failure: { code: "diverged", advice: "Use a lower learning rate." },
    });
    expect(names()).not.toContain("bad");
  });

  it("is refused over lines that are no examples", async () => {
    await prepare(`${data}{broken\n`, "bad", {});
    expect(run()).toMatchObject({
      state: "failed",
      failure: { code: "bad-data", sentence: expect.stringMatching(/^line 2: /) as string },
    });
  });

  it("is refused where no model is open", async () => {
    await useEngine.getState().close();
    await prepare(data, "none", {});
    expect(run()).toMatchObject({
      state: "failed",
      failure: { sentence: "No model is open. Choose one on the Models page." },
    });
  });
});

describe("a run whose model closes", () => {
  it("can be gone on with from where it was, with its losses", async () => {
    await prepare(data, "interrupted", { epochs: 15 });
    void start();
    await vi.waitUntil(() => step() > 3);
    await useEngine.getState().open(builtin);
    expect(shown()).toBe("none");
    expect(useRun.getState().saved).toMatchObject([{ name: "interrupted", model: "Scripted", steps: 15 }]);
    await goOn("interrupted");
    const done = run();
    expect(done).toMatchObject({ state: "done", name: "interrupted", result: { steps: 15 } });
    expect(done.state === "done" && done.curve.train.map((point) => point.step)).toEqual(
      Array.from({ length: 15 }, (_, i) => i + 1),
    );
    expect(useRun.getState().saved).toEqual([]);
  });

  it("can be given up", async () => {
    await prepare(data, "given up", { epochs: 15 });
    void start();
    await vi.waitUntil(() => step() > 3);
    await useEngine.getState().close();
    await giveUp("given up");
    expect(useRun.getState().saved).toEqual([]);
    expect(localStorage.getItem("gemwire.curve.given up")).toBeNull();
  });
});
