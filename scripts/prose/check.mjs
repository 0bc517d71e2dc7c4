// Checks the repository's prose with textlint: Markdown files, and the sentences in the strings of Go, TypeScript
// and HTML that people read. phrases.yml has our own rules.
//
//   node check.mjs [FILE...]      all files that git knows, or those named
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { extname, join, relative, resolve } from "node:path";
import { TextlintKernel } from "@textlint/kernel";
import markdown from "@textlint/textlint-plugin-markdown";
import plain from "@textlint/textlint-plugin-text";
import prh from "textlint-rule-prh";
import sentenceLength from "textlint-rule-sentence-length";
import ts from "typescript";

const root = resolve(import.meta.dirname, "../..");
const module = (value) => value.default ?? value;

/** Not for readers of today: records that stay as they were written, and what others wrote. */
const left = /^(tools\/lab\/notes\/(?!README)|testdata\/|.*\/testdata\/|.*THIRD-PARTY|.*\/LICENSE)/;
/** Strings in TypeScript that people read: the app, the package's errors. */
const spoken = /^(examples\/web\/src|bindings\/wasm\/npm\/src)\/(?!.*\.test\.)/;

const options = {
  plugins: [
    { pluginId: "markdown", plugin: module(markdown) },
    { pluginId: "text", plugin: module(plain) },
  ],
  rules: [
    { ruleId: "prh", rule: module(prh), options: { rulePaths: [join(import.meta.dirname, "phrases.yml")] } },
    { ruleId: "sentence-length", rule: module(sentenceLength), options: { max: 260 } },
  ],
};
const kernel = new TextlintKernel();

/** sentencesOf lists the strings of a TypeScript file that read as text: line and text. */
function sentencesOf(file) {
  const source = ts.createSourceFile(
    file,
    readFileSync(join(root, file), "utf8"),
    ts.ScriptTarget.Latest,
    true,
    file.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  );
  const found = [];
  const add = (node, text) => {
    const clean = text.replaceAll(/\s+/g, " ").trim();
    if (/^(SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA) /.test(clean)) return;
    if (
      /[A-Za-z]{2,} [^ ]+ [A-Za-z]/.test(clean) &&
      !/^[a-z0-9:[\]/.%()-]+( [a-z0-9:[\]/.%()-]*[-:[][a-z0-9:[\]/.%()-]*)+/.test(clean)
    ) {
      found.push({ file, line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1, text: clean });
    }
  };
  const visit = (node) => {
    if (ts.isImportDeclaration(node) || (ts.isJsxAttribute(node) && node.name.getText() === "className")) return;
    if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) add(node, node.text);
    if (ts.isTemplateExpression(node))
      add(node, [node.head.text, ...node.templateSpans.map((span) => `X${span.literal.text}`)].join(""));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** lint checks pieces of a file, each with the line that it begins at, and prints what is wrong. */
async function lint(file, ext, pieces) {
  const starts = [];
  let text = "";
  for (const piece of pieces) {
    starts.push([text.split("\n").length, piece.line]);
    text += `${piece.text}\n\n`;
  }
  const { messages } = await kernel.lintText(text, { ...options, ext, filePath: file });
  for (const { line, message, ruleId } of messages) {
    const [, begins] = starts.findLast(([start]) => start <= line);
    console.log(`${file}:${ext === ".md" ? line : begins}: ${message.split("\n")[0]} (${ruleId})`);
  }
  return messages.length;
}

const named = process.argv.slice(2).map((name) => relative(root, resolve(name)));
const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
  maxBuffer: 1 << 26,
});
const files = (named.length > 0 ? named : [...new Set(tracked.trim().split("\n"))]).filter(
  (name) => !left.test(name) && existsSync(join(root, name)),
);
const of = (...kinds) => files.filter((name) => kinds.includes(extname(name)));

let faults = 0;
for (const file of of(".md")) {
  faults += await lint(file, ".md", [{ line: 1, text: readFileSync(join(root, file), "utf8") }]);
}
const go = of(".go").filter((name) => !name.endsWith("_test.go"));
const lines = execFileSync("go", ["run", join(import.meta.dirname, "strings.go")], {
  cwd: root,
  input: go.join("\n"),
  encoding: "utf8",
  maxBuffer: 1 << 26,
});
const sentences = lines
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line));
for (const file of of(".ts", ".tsx").filter((name) => spoken.test(name))) sentences.push(...sentencesOf(file));
const spokenIn = new Map(sentences.map(({ file }) => [file, []]));
for (const sentence of sentences) spokenIn.get(sentence.file).push(sentence);
for (const [file, pieces] of spokenIn) faults += await lint(file, ".txt", pieces);

if (faults > 0) {
  console.error(`prose: ${faults} places to rewrite`);
  process.exit(1);
}
console.log(`prose: ${of(".md").length} pages and ${sentences.length} strings are fine`);
