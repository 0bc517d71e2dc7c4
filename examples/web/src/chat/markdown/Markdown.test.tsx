import katex from "katex";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { Markdown, safeAddress } from "./Markdown";
import { blocksOf } from "./blocks";
import { bounds, isBounded } from "./bounds";
import { cutFormulas, markFormulas } from "./formulas";
import { highlight } from "./highlight";

const html = (text: string) => renderToStaticMarkup(<Markdown text={text} />);

describe("what a model writes is not trusted", () => {
  it.each([
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<iframe src='https://evil.example'></iframe>",
    "<svg onload=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "<style>*{display:none}</style>",
    "a <b onclick=alert(1)>b</b>",
    "<form action='https://evil.example'><input></form>",
  ])("shows HTML as text: %s", (text) => {
    expect(html(text)).not.toMatch(/<(script|img|iframe|svg (?!viewBox)|style|form|b)\b/);
    expect(html(text)).toContain("&lt;");
  });

  it.each([
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html,x)",
    "[x](vbscript:x)",
    "[x](java&#115;cript:alert(1))",
    "<javascript:alert(1)>",
    "[x]: javascript:alert(1)\n[x]",
    "[x](blob:https://a/b)",
    "[x](file:///etc/passwd)",
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

  it.each([
    ["https://a.b/c?d", "https://a.b/c?d"],
    [" mailto:a@b.c", "mailto:a@b.c"],
    ["#x", ""],
    ["//evil.example", ""],
    ["ftp://x", ""],
  ])("%j → %j", (address, safe) => {
    expect(safeAddress(address)).toBe(safe);
  });
});

describe("markdown", () => {
  it("has code blocks with language and copy button", () => {
    const out = html('```go\nfmt.Println("<b>")\n```');
    expect(out).toContain("<span>go</span>");
    expect(out).toContain("Copy code");
    expect(out).toContain("fmt.Println(&quot;&lt;b&gt;&quot;)");
  });

  it("shows a block that is not finished yet", () => {
    expect(html("```js\nlet a = 1")).toContain("let a = 1");
  });

  it("has tables and task lists", () => {
    expect(html("| a | b |\n|---|---|\n| 1 | 2 |")).toContain(">1</td>");
    expect(html("- [x] done\n- [ ] open")).toContain("☑");
  });
});

describe("tables", () => {
  const table = (text: string) => html(text).replace(/.*(<table>.*<\/table>).*/s, "$1");

  it("align columns of numbers at their ends, with their headings", () => {
    const out = table(
      "| Planet | Mass | g |\n|---|---|---|\n| Jupiter | 317.8 | 24.8 m/s² |\n| Mars | 0.11 | 3.7 m/s² |",
    );
    expect(out).toContain("<th>Planet</th>");
    expect(out).toContain('<th style="text-align:right">Mass</th>');
    expect(out).toContain('<td class="number" style="text-align:right">317.8</td>');
    expect(out).toContain('<td class="number" style="text-align:right">3.7 m/s²</td>');
  });

  it("leave columns alone that say how, or that hold words", () => {
    const out = table("| a | b |\n|:--|---|\n| 1 | 2 |\n| 3 | two |");
    expect(out).toContain('style="text-align:left">1</td>');
    expect(out).toContain("<td>2</td>");
  });
});

describe("directions", () => {
  it("are each block's own, and code's is fixed", () => {
    const out = html("שלום\n\nhello\n\n```\nlet a\n```");
    expect(out).toContain('<p dir="auto">שלום</p>');
    expect(out).toContain('<p dir="auto">hello</p>');
    expect(out).toContain('<figure dir="ltr"');
  });
});

describe("formulas", () => {
  /** The formulas of a text, those on a line of their own in brackets. */
  const found = (text: string) =>
    cutFormulas(markFormulas(text)).flatMap((piece) =>
      typeof piece === "string" ? [] : [piece.display ? `[${piece.tex}]` : piece.tex],
    );

  it.each([
    ["$x$", ["x"]],
    ["so $a_1*b_1*c$ is", ["a_1*b_1*c"]],
    ["$$\nE = mc^2\n\n- 1\n$$", ["[E = mc^2\n\n- 1]"]],
    ["a $$x$$ b", ["[x]"]],
    ["\\(x\\) and \\[\ny\n\\]", ["x", "[y]"]],
    ["the $n$th, $k$-means, ($x$), **$y$**.", ["n", "k", "x", "y"]],
    ["$\\{x\\}$", ["\\{x\\}"]],
    ["$2 \\times 3$ and $6$", ["2 \\times 3", "6"]],
    ["| $|x|$ | 1 |", ["|x|"]],
    ["```\n$x$\n```\n$y$", ["y"]],
  ])("of %j are %j", (text, formulas) => {
    expect(found(text)).toEqual(formulas);
  });

  it.each([
    "It costs $5 and $6.",
    "$5, $6 or US$7",
    "between $5 million (or 6$) and 7$",
    "I paid 5$ and you 6$",
    "$HOME/$PATH",
    "echo $A_B$C_D",
    "`$x$` and ``\\(y\\)``",
    "```sh\necho $x$\n```",
    "~~~\n\\[x\\]\n\n$$y$$",
    "a\\\\(b\\\\)",
    "\\$x$",
    "$$ alone",
    "\\[ not\n\n done",
    "$ x $",
    "$$  $$",
    "\\(a\n\nb\\)",
  ])("are not in %j", (text) => {
    expect(found(text)).toEqual([]);
  });

  it("keep what Markdown would take for its own", () => {
    const out = html("The sum $a_1 * b_1 * c_1$ is \\(\\{x\\}\\).");
    expect(out).toContain("<code>$a_1 * b_1 * c_1$</code>");
    expect(out).toContain("<code>\\(\\{x\\}\\)</code>");
    expect(out).not.toContain("<em>");
  });

  it("are text again in code, addresses and titles", () => {
    const out = html('    indented $x$\n\n[a](https://x.example/?a=$b$ "$t$")');
    expect(out).toContain("indented $x$");
    expect(out).toContain('href="https://x.example/?a=$b$"');
    expect(out).not.toMatch(/[\uE000-\uE17F]/);
  });

  it("cannot be made up of the marks' own letters", () => {
    expect(found("\uE000\uE178\uE001")).toEqual([]);
  });

  it.each([
    ["brackets that never close", "\\[\n".repeat(20_000)],
    ["dollars", "$".repeat(60_001)],
    ["dollars against words", "$a ".repeat(20_000)],
    ["backticks of many lengths", Array.from({ length: 300 }, (_, n) => "`".repeat(n + 1)).join(" ")],
    ["fences that never close", "```\n$x\n~~~\n".repeat(5_000)],
    ["very long ones", `$$${"x".repeat(50_000)}$$`],
  ])("are none in %s", (_, text) => {
    expect(found(text)).toEqual([]);
  });
});

describe("TeX that a model writes", () => {
  const typeset = (tex: string) => () => katex.renderToString(tex, bounds);

  it.each([
    ["a definition", "\\def\\a{\\a\\a}\\a"],
    ["another", "\\newcommand{\\a}{x}\\a"],
    ["braces", "{".repeat(41) + "x" + "}".repeat(41)],
    ["brackets", "\\left(".repeat(41) + "\\right)".repeat(41)],
    ["matrices", "\\begin{matrix}".repeat(41) + "\\end{matrix}".repeat(41)],
    ["rows before braces", "\\\\{".repeat(41)],
  ])("stays as it is with %s without end", (_, tex) => {
    expect(isBounded(tex)).toBe(false);
  });

  it.each(["\\frac{1}{2}", "\\{".repeat(60), "{x}".repeat(60), "\\defeq \\leftarrow \\lettera"])("may be %s", (tex) => {
    expect(isBounded(tex)).toBe(true);
  });

  it("is refused where it cannot be read", () => {
    expect(typeset("\\frac{")).toThrow();
  });

  it("opens nothing, loads nothing and sets no class", () => {
    for (const tex of [
      "\\href{javascript:alert(1)}{x}",
      "\\url{https://evil.example}",
      "\\includegraphics{https://evil.example/1.png}",
      "\\htmlClass{fixed}{x}",
      "\\htmlStyle{position:fixed}{x}",
    ])
      expect(typeset(tex)()).not.toMatch(/<(a|img)\b|class="[^"]*\bfixed|style="[^"]*position/);
  });

  it("is no larger than its bounds", () => {
    expect(typeset("\\rule{9999em}{9999em}")()).toContain(`width:${bounds.maxSize}em`);
  });
});

describe("code", () => {
  it("is colored by kind of token, in a language that is known", () => {
    expect(renderToStaticMarkup(highlight('let a = "<b>";', "js"))).toBe(
      '<span class="hljs-keyword">let</span> a = <span class="hljs-string">&quot;&lt;b&gt;&quot;</span>;',
    );
    expect(highlight("x", "nonesuch")).toBeNull();
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
