import { describe, expect, it } from "vitest";
import { isFull, outlookOf } from "./contextRoom";

const room = { used: 6000, context: 8192, most: 131_072, forgets: false };

describe("the context", () => {
  it.each([
    [{ used: 8191 }, false],
    [{ used: 8192 }, true],
    [{ used: 9000, forgets: true }, false],
  ])("with %j full: %s", (change, full) => {
    expect(isFull({ ...room, ...change })).toBe(full);
  });

  it.each([
    [{ used: 7168 }, "roomy"],
    [{ used: 7169 }, "tight"],
    [{ used: 5120, forgets: true }, "roomy"],
    [{ used: 5121, forgets: true }, "tight"],
    [{ used: 6145, forgets: true }, "leaving"],
  ])("with %j is %s", (change, outlook) => {
    expect(outlookOf({ ...room, ...change })).toBe(outlook);
  });
});
