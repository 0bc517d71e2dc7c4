import { describe, expect, it } from "vitest";
import { emptyCurve, until, withStep } from "./curve";
import { lossLabel, niceStep, plotOf, size } from "./plot";

const after = (steps: number, loss: (step: number) => number, every = 0) =>
  Array.from({ length: steps }, (_, i) => i + 1).reduce(
    (curve, step) =>
      withStep(curve, {
        step,
        loss: loss(step),
        ...(every > 0 && step % every === 0 ? { heldOutLoss: 2 * loss(step) } : {}),
      }),
    emptyCurve,
  );

describe("a run's losses", () => {
  it("are all there in a short run", () => {
    const curve = after(20, (step) => 10 / step, 10);
    expect(curve.train).toHaveLength(20);
    expect(curve.heldOut).toEqual([
      { step: 10, loss: 2 },
      { step: 20, loss: 1 },
    ]);
  });

  it("are means in a long one, of which nothing is lost", () => {
    const curve = after(10_000, (step) => step);
    expect(curve.train.length).toBeLessThanOrEqual(600);
    expect(curve.train.reduce((sum, { of = 1 }) => sum + of, 0)).toBe(10_000);
    expect(curve.train.reduce((sum, { loss, of = 1 }) => sum + of * loss, 0)).toBeCloseTo((10_000 * 10_001) / 2, -1);
    expect(curve.train.at(-1)?.step).toBe(10_000);
  });

  it("end where a run goes on", () => {
    expect(
      until(
        after(20, () => 1, 5),
        12,
      ),
    ).toEqual(after(12, () => 1, 5));
  });
});

describe("the plot", () => {
  it("runs from the first step to the last of the plan, and downwards", () => {
    const plot = plotOf(
      after(10, (step) => 4 - step / 10),
      10,
    );
    const points = [...plot.train.matchAll(/[ML]([\d.]+) ([\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);
    expect(points).toHaveLength(10);
    expect(points.at(-1)?.[0]).toBeCloseTo(size.width - size.right, 1);
    expect(points[0]?.[1]).toBeLessThan(points.at(-1)?.[1] ?? 0);
    expect(plot.logarithmic).toBe(false);
    expect(plot.yTicks.map(({ label }) => label)).toEqual(["0", "1", "2", "3", "4"]);
    expect(plot.xTicks.map(({ label }) => label)).toEqual(["0", "2", "4", "6", "8", "10"]);
  });

  it("shows losses by their magnitude where they are far apart, and stays in its frame", () => {
    const plot = plotOf(
      after(5, (step) => 9 / 10 ** step, 5),
      5,
    );
    expect(plot.logarithmic).toBe(true);
    expect(plot.yTicks.map(({ label }) => label)).toEqual(["1e-5", "0.0001", "0.001", "0.01", "0.1", "1"]);
    for (const { at } of plot.yTicks) {
      expect(at).toBeGreaterThanOrEqual(size.top);
      expect(at).toBeLessThanOrEqual(size.height - size.bottom);
    }
  });

  it.each([[emptyCurve], [after(1, () => 0)], [after(2, () => Number.NaN)]])("has nothing strange for %j", (curve) => {
    expect(JSON.stringify(plotOf(curve, 3))).not.toMatch(/NaN|null|Infinity/);
  });

  it.each([
    [0.7, 1],
    [1, 1],
    [1.2, 2],
    [21, 50],
    [0.00021, 0.0005],
  ])("steps of at least %d are %d wide", (least, step) => {
    expect(niceStep(least)).toBeCloseTo(step, 9);
  });

  it.each([
    [9.1005, "9.1"],
    [0.4219, "0.42"],
    [0.00123, "0.0012"],
    [0, "0"],
    [12.34, "12.3"],
    [0.00001, "1e-5"],
  ])("%d is written %s", (loss, text) => {
    expect(lossLabel(loss)).toBe(text);
  });
});
