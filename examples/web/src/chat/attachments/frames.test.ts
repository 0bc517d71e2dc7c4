import { expect, it } from "vitest";
import { indicesIn } from "./frames";

it.each<[number, number, number[]]>([
  [0.01, 1, [0]],
  [0.5, 12, [0, 1, 2, 3]],
  [2, 32, [0, 1, 3, 4]],
  [60, 32, [0, 45, 90, 135]],
])("of %d s there are %d frames, which begin with %j", (seconds, number, first) => {
  const indices = indicesIn(seconds);
  expect(indices).toHaveLength(number);
  expect(indices.slice(0, first.length)).toEqual(first);
});
