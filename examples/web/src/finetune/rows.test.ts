import { describe, expect, it } from "vitest";
import { jsonlOf, newRow, rowsOf, type Row } from "./rows";

const bare = (rows: Row[]) => rows.map((row) => ({ ...row, id: undefined }));

describe("JSONL as rows", () => {
  it("shows questions with their answers, and leaves everything else as it is", () => {
    const text = [
      '{"prompt": "a\\nb", "completion": "c"}',
      "",
      '{"text": "d"}',
      '{"prompt": "a", "completion": "b", "system": "s"}',
      "{broken",
      '{"prompt": "a"}',
      "[1]",
    ].join("\r\n");
    expect(bare(rowsOf(`\ufeff${text}`))).toEqual([
      { kind: "pair", prompt: "a\nb", completion: "c" },
      { kind: "json", text: '{"text": "d"}' },
      { kind: "json", text: '{"prompt": "a", "completion": "b", "system": "s"}' },
      { kind: "json", text: "{broken" },
      { kind: "json", text: '{"prompt": "a"}' },
      { kind: "json", text: "[1]" },
    ]);
  });

  it("gives back what it took", () => {
    const text = '{"prompt":"a","completion":"b"}\n{"messages":[{"role":"user","content":"x"}]}\n{broken\n';
    expect(jsonlOf(rowsOf(text))).toBe(text);
  });

  it("counts lines as rows: an empty row is an empty line, and JSON over several lines is one", () => {
    const rows: Row[] = [newRow(), newRow("a", ""), { id: "x", kind: "json", text: '{"text":\n  "b c"\n}' }];
    expect(jsonlOf(rows).split("\n")).toEqual(["", '{"prompt":"a","completion":""}', '{"text": "b c" }', ""]);
  });
});
