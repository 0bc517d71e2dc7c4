import { settings } from "gemwire";
import { describe, expect, it } from "vitest";
import { boundsOf, recommended, samplingOf, type SamplingNumber } from "./sampling";

const names = Object.entries(recommended).flatMap(([name, value]) =>
  typeof value === "boolean" ? [] : [name as SamplingNumber],
);

describe("what is saved of the sampling", () => {
  it.each(names)("holds %s to the package's bounds", (name) => {
    const { min, max } = boundsOf(name);
    expect([min, max]).toEqual([
      settings[name].min,
      Number.isFinite(settings[name].max) ? settings[name].max : Number.MAX_SAFE_INTEGER,
    ]);
    for (const allowed of [min, max]) expect(samplingOf({ [name]: allowed })[name]).toBe(allowed);
    const refused = [min - 1, max + 1, NaN, Infinity, "1", null, ...(settings[name].whole ? [min + 0.5] : [])];
    for (const value of refused) expect(samplingOf({ [name]: value })).toEqual(recommended);
  });

  it.each([undefined, null, "hot", 3, []])("is as recommended where it is %j", (value) => {
    expect(samplingOf(value)).toEqual(recommended);
  });

  it.each(["thinking", "preserveThinking"] as const)("keeps %s", (name) => {
    expect(samplingOf({ [name]: true })).toEqual({ ...recommended, [name]: true });
    expect(samplingOf({ [name]: "yes" })).toEqual(recommended);
  });
});
