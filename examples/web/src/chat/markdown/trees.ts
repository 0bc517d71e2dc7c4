// What is done to the trees of an answer between Markdown and the page.
import type { Element, ElementContent, Root as Page } from "hast";
import type { PhrasingContent, Root as Markdown } from "mdast";
import { cutFormulas, withoutMarks, type Formula } from "./formulas";

interface Node {
  type: string;
  children?: Node[];
}

/** Strings of a node in which a mark may stand, beside the value of a text. */
const written = ["value", "url", "title", "alt", "label", "identifier"] as const;

/** A formula as a node of Markdown; the page shows it as a span that has its TeX. */
function formulaNode({ source, tex, display }: Formula): PhrasingContent {
  return {
    type: "text",
    value: source,
    data: {
      hName: "span",
      hProperties: { dataTex: tex, dataDisplay: display ? "block" : "inline" },
      hChildren: [{ type: "text", value: source }],
    },
  };
}

/**
 * remarkFormulas turns the marks of formulas into formulas where they stand in words, and into their text elsewhere.
 */
export function remarkFormulas() {
  const visit = (node: Node) => {
    const { children } = node;
    if (!children) return;
    node.children = children.flatMap((child): Node[] => {
      if (child.type === "text")
        return cutFormulas((child as Node & { value: string }).value).map((piece) =>
          typeof piece === "string" ? { ...child, value: piece } : formulaNode(piece),
        );
      const strings = child as unknown as Record<string, unknown>;
      for (const name of written) {
        const value = strings[name];
        if (typeof value === "string") strings[name] = withoutMarks(value);
      }
      visit(child);
      return [child];
    });
  };
  return (root: Markdown) => visit(root);
}

/** rehypeDirections has each block run in the direction of its own words. */
export function rehypeDirections() {
  return (root: Page) => {
    for (const child of root.children) if (child.type === "element") child.properties.dir = "auto";
  };
}

const number = /^[-−+~≈±<>≤≥]?\s?[$€£¥]?\s?\d[\d.,’\s]*(?:\s?[%‰°\p{L}µ/²³·]{1,8})?$/u;

/** rehypeNumberColumns aligns columns of numbers at their ends, headings included, where Markdown does not say how. */
export function rehypeNumberColumns() {
  return (root: Page) => {
    for (const table of elements(root.children, "table")) {
      const [head = [], ...body] = elements(table.children, "tr").map((row) => elements(row.children, "th", "td"));
      for (const [column, heading] of head.entries()) {
        const cells = body.flatMap((row) => row[column] ?? []);
        const texts = cells.map((cell) => textOf(cell).trim()).filter((text) => text !== "");
        if (texts.length === 0 || !texts.every((text) => number.test(text))) continue;
        for (const cell of [heading, ...cells]) cell.properties.align ??= "right";
        for (const cell of cells) cell.properties.className = ["number"];
      }
    }
  };
}

function elements(nodes: readonly (ElementContent | Page["children"][number])[], ...names: string[]): Element[] {
  return nodes.flatMap((node) => {
    if (node.type !== "element") return [];
    return names.includes(node.tagName) ? [node] : elements(node.children, ...names);
  });
}

/** textOf is the text in an element, without the marks of formatting. */
export function textOf(node: Element): string {
  return node.children
    .map((child) => (child.type === "text" ? child.value : child.type === "element" ? textOf(child) : ""))
    .join("");
}
