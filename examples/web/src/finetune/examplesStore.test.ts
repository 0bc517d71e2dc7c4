import { beforeEach, expect, it } from "vitest";
import { useExamples } from "./examplesStore";

const shown = () =>
  useExamples.getState().rows.map((row) => (row.kind === "pair" ? `${row.prompt}|${row.completion}` : row.text));
const { write, add, remove, take, clear, undo } = useExamples.getState();

beforeEach(() => useExamples.setState({ rows: [], changes: [] }));

it("takes back whole typings, additions, deletions and imports, one after the other", () => {
  const id = add();
  for (const prompt of ["W", "Wh", "Who?"]) write({ id, kind: "pair", prompt, completion: "" });
  expect(take('{"text":"a"}\n\n{"prompt":"b","completion":"c"}\n')).toBe(2);
  remove(id);
  clear();
  expect(shown()).toEqual([]);
  const steps = [['{"text":"a"}', "b|c"], ["Who?|", '{"text":"a"}', "b|c"], ["Who?|"], ["|"], []];
  for (const rows of steps) {
    undo();
    expect(shown()).toEqual(rows);
  }
  undo();
  expect(shown()).toEqual([]);
});

it("adds behind a row, and replaces empty rows by a file's", () => {
  const first = add();
  add();
  write({ id: first, kind: "pair", prompt: "a", completion: "b" });
  const between = add(first);
  expect(
    useExamples
      .getState()
      .rows.map(({ id }) => id)
      .indexOf(between),
  ).toBe(1);
  take('{"text":"c"}');
  expect(shown()).toEqual(["a|b", '{"text":"c"}']);
});

it("has nothing to take back after a file without lines", () => {
  expect(take("\n  \n")).toBe(0);
  expect(useExamples.getState().changes).toEqual([]);
});
