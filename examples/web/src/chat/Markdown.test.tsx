import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { Markdown, safeAddress } from "./Markdown";
import { blocksOf } from "./markdownBlocks";

const html = (text: string) => renderToStaticMarkup(<Markdown text={text} />);

describe("what a model writes is not trusted", () => {
  it.each([
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<iframe src='https://evil.example'></iframe>", "<svg onload=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>", "<style>*{display:none}</style>", "a <b onclick=alert(1)>b</b>", "<form action='https://evil.example'><input></form>",
  ])("shows HTML as text: %s", (text) => {
    expect(html(text)).not.toMatch(/<(script|img|iframe|svg (?!viewBox)|style|form|b)\b/);
    expect(html(text)).toContain("&lt;");
  });

  it.each([
    "[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](data:text/html,x)", "[x](vbscript:x)", "[x](java&#115;cript:alert(1))",
    "<javascript:alert(1)>", "[x]: javascript:alert(1)\n[x]", "[x](blob:https://a/b)", "[x](file:///etc/passwd)",
  ])("drops the address of %s", (text) => {
    expect(html(text)).not.toMatch(/href=/);
  });

  it("does not fetch images", () => {
    const out = html("![a chart](https://tracker.example/1.png)");
    expect(out).not.toContain("<img");
    expect(out).toContain('href="https://tracker.example/1.png"');
    expect(out).toContain("Image: a chart");
  });

  it("opens links apart, without a way back", () => {
    expect(html("https://example.org")).toContain('target="_blank" rel="noreferrer noopener nofollow"');
  });

  it.each([["https://a.b/c?d", "https://a.b/c?d"], [" mailto:a@b.c", "mailto:a@b.c"], ["#x", ""], ["//evil.example", ""], ["ftp://x", ""]])("%j → %j", (address, safe) => {
    expect(safeAddress(address)).toBe(safe);
  });
});

describe("markdown", () => {
  it("has code blocks with language and copy button", () => {
    const out = html("```go\nfmt.Println(\"<b>\")\n```");
    expect(out).toContain("<span>go</span>");
    expect(out).toContain("Copy code");
    expect(out).toContain("fmt.Println(&quot;&lt;b&gt;&quot;)");
  });

  it("shows a block that is not finished yet", () => {
    expect(html("```js\nlet a = 1")).toContain("let a = 1");
  });

  it("has tables and task lists", () => {
    expect(html("| a | b |\n|---|---|\n| 1 | 2 |")).toContain("<td>1</td>");
    expect(html("- [x] done\n- [ ] open")).toContain("☑");
  });
});

describe("blocks", () => {
  it.each<[string, string, number]>([
    ["paragraphs", "a\n\nb\n\nc", 3],
    ["code with empty lines", "a\n\n```\nx\n\ny\n```\n\nb", 3],
    ["longer fences", "````\n```\n\n```\n````\n\nb", 2],
    ["loose lists", "- a\n\n- b\n\n  more\n\nend", 2],
    ["numbered lists", "1. a\n\n2. b", 1],
    ["link definitions", "[a]\n\n[a]: https://x.example", 1],
    ["an open fence", "```\na\n\nb", 1],
    ["nothing", "\n\n", 0],
  ])("%s", (_, text, count) => {
    expect(blocksOf(text)).toHaveLength(count);
  });

  it("loses no line", () => {
    const text = "# a\n\nb\n\n- c\n\n- d\n\n```\ne\n\nf\n```\n\ng";
    expect(blocksOf(text).join("\n")).toBe(text);
  });
});
