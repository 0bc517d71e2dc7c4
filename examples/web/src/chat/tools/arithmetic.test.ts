import { expect, it } from "vitest";
import { evaluate } from "./arithmetic";

it.each([
  ["1 + 2 * 3", 7],
  ["(1 + 2) * 3", 9],
  ["2 ^ 3 ^ 2", 512],
  ["-2 ^ 2", -4],
  ["2 ** -1", 0.5],
  ["7 % 4", 3],
  ["10 - 2 - 3", 5],
  ["sqrt(16) + max(1, 5, 2)", 9],
  ["2 × 3 ÷ 4", 1.5],
  ["1e3 + .5", 1000.5],
  ["--3", 3],
  ["cos(0) * pi", Math.PI],
])("%s", (expression, value) => {
  expect(evaluate(expression)).toBeCloseTo(value, 12);
});

it.each([
  "",
  "1 +",
  "(1",
  "1)",
  "1 2",
  "alert(1)",
  "constructor",
  "toString(1)",
  "1 / 0",
  "a".repeat(501),
  "(".repeat(100),
  "1; 2",
  "'x'",
])("refuses %j", (expression) => {
  expect(() => evaluate(expression)).toThrow();
});
