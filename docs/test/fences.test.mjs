import assert from "node:assert/strict";
import { test } from "node:test";
import { slugify } from "../.vitepress/repository.mjs";
import { fences, matches, steps } from "./fences.mjs";

test("blocks have a language, a name, a line and their text", () => {
  const page = [
    "# A",
    "```go [main.go]",
    "package main",
    "```",
    "1. x",
    "   ```console",
    "   $ ls",
    "   ```",
    "````md",
    "```",
    "````",
  ].join("\n");
  assert.deepEqual(
    fences(page).map(({ language, name, line, text }) => ({ language, name, line, text })),
    [
      { language: "go", name: "main.go", line: 3, text: "package main" },
      { language: "console", name: undefined, line: 7, text: "$ ls" },
      { language: "md", name: undefined, line: 10, text: "```" },
    ],
  );
});

test("a session is commands with input and output", () => {
  const text = ["$ chat \\", "  --greedy", ">>> Hi", "Hello", "", ">>> Bye", "Good-bye", "", "$ true"].join("\n");
  assert.deepEqual(
    steps({ text, line: 10 }).map(({ command, input, output, line }) => ({ command, input, output, line })),
    [
      { command: "chat \\\n  --greedy", input: ["Hi", "Bye"], output: ["Hello", "", "Good-bye"], line: 10 },
      { command: "true", input: [], output: [], line: 18 },
    ],
  );
});

test("output is compared line by line", () => {
  assert.ok(matches(["a", "b"], ["a", "b  "]));
  assert.ok(!matches(["a"], ["a", "b"]));
  assert.ok(!matches(["a", "b"], ["a"]));
  assert.ok(!matches([], ["a"]));
  assert.ok(matches([], []));
});

test("three dots are lines, one sign is a part of a line", () => {
  assert.ok(matches(["...", "b"], ["x", "y", "b"]));
  assert.ok(matches(["a", "..."], ["a"]));
  assert.ok(matches(["a … (c)"], ["a b (c)"]));
  assert.ok(!matches(["a.c"], ["abc"]));
  assert.ok(matches(["..."], []));
});

test("anchors are those of the repository's host", () => {
  assert.equal(slugify("A token's way"), "a-tokens-way");
  assert.equal(slugify("`finetune`: what is new"), "finetune-what-is-new");
});
