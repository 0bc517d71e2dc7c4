import { expect, it } from "vitest";
import { timesIn } from "./frames";

it.each<[number, number, number[]]>([
  [4, 8, [0.5, 1.5, 2.5, 3.5]],
  [0.3, 8, [0.15]],
  [60, 3, [10, 30, 50]],
])("of %d s, at most %d frames stand at %j", (seconds, most, times) => {
  expect(timesIn(seconds, most).map((time) => Math.round(time * 100) / 100)).toEqual(times);
});
