import { describe, expect, it } from "vitest";
import { lineOf } from "./jsonPlace";
import { parsePartial } from "./partialJson";
import { viewOf } from "./views";

const schema = `{
  "type": "object",
  "properties": {
    "a": { "type": "string" },
    "b": { "anyOf": [
      { "type": "string" },
      { "pattern": "(" }
    ] }
  }
}`;

describe("where a schema is wrong", () => {
  it.each([
    ["#", 1],
    ["#/type", 2],
    ["#/properties/a/type", 4],
    ["#/properties/b/anyOf/1/pattern", 7],
    ["#/properties/c", null],
    ["nothing", null],
  ])("%s", (pointer, line) => expect(lineOf(schema, pointer)).toBe(line));
});

describe("JSON that is still coming", () => {
  const whole = '[{"name": "A \\"b\\", [c", "year": -12.5e3, "ok": true}, {"name": "d", "year": null}]';

  it("can be read wherever it is cut", () => {
    for (let end = 1; end <= whole.length; end++) expect(Array.isArray(parsePartial(whole.slice(0, end)))).toBe(true);
    expect(parsePartial(whole)).toEqual(JSON.parse(whole));
  });

  it("is nothing where it is not JSON", () => expect(parsePartial("Vienna")).toBeUndefined());
});

describe("how a value is shown", () => {
  it.each([
    [[{ a: 1 }, { b: "x" }], "table"],
    [{ rows: [{ a: 1 }] }, "table"],
    [[{ a: { b: 1 } }], "tree"],
    [{ a: 1, b: 2 }, "tree"],
    [[], "tree"],
    ["x", "scalar"],
    [null, "scalar"],
  ])("%j is a %s", (value, view) => expect(viewOf(value)).toBe(view));
});
