import { expect, test } from "vitest";
import { kernelsText, leftOutText } from "./kernelsText";

const found = { kernels: 27, new: 0, seconds: 0 };
const leftOut = ["a.wgsl[X=1]", "a.wgsl[X=2]", "b.wgsl"].map((kernel) => ({ kernel, reason: "error 1" }));

test("kernels are counted, and those that are left out are named once", () => {
  expect(kernelsText(found)).toBe("27 checked on this GPU");
  expect(kernelsText({ ...found, leftOut })).toBe("27 checked on this GPU; computed wrongly and left out: a, b");
  const many = ["a", "b", "c", "d", "e"].map((name) => ({ kernel: `${name}.wgsl`, reason: "" }));
  expect(leftOutText(many)).toContain("with a, b, c and 2 more.");
});
