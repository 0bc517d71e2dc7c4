import { expect, it } from "vitest";
import { ftsQuery } from "./searchTerms";

it.each([
  ["capital of", '"capital"* "of"*'],
  ['"quoted" OR NEAR(x)', '"quoted"* "OR"* "NEAR"* "x"*'],
  ["Größe 42", '"Größe"* "42"*'],
  ["  -*() ", null],
])("%j", (typed, query) => {
  expect(ftsQuery(typed)).toBe(query);
});
