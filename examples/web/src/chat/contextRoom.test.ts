import { describe, expect, it } from "vitest";
import { isFull, waysOut } from "./contextRoom";

const room = { used: 6000, answer: 2048, context: 8192, most: 131_072 };

describe("the context", () => {
  it.each([
    [{ used: 6144 }, false],
    [{ used: 6145 }, true],
    [{ used: 8191, answer: 0 }, false],
    [{ used: 8192, answer: 0 }, true],
    [{ used: 10, answer: 8192 }, true],
  ])("with %j full: %s", (change, full) => {
    expect(isFull({ ...room, ...change })).toBe(full);
  });

  it.each([
    [{ used: 7000 }, { shorter: 1192, larger: true }],
    [{ used: 8129 }, { shorter: null, larger: true }],
    [{ used: 9000 }, { shorter: null, larger: true }],
    [
      { used: 7000, most: 8192 },
      { shorter: 1192, larger: false },
    ],
    [
      { used: 7000, answer: 0 },
      { shorter: null, larger: true },
    ],
  ])("that is full with %j leaves %j", (change, ways) => {
    expect(waysOut({ ...room, ...change })).toEqual(ways);
  });
});
