import type { ExtraProps } from "react-markdown";
import { CopyButton } from "../ui/CopyButton";

type Node = NonNullable<ExtraProps["node"]>;

function textOf(node: Node): string {
  return node.children.map((child) => (child.type === "text" ? child.value : child.type === "element" ? textOf(child) : "")).join("");
}

function languageOf(node: Node): string {
  const code = node.children.find((child) => child.type === "element");
  const classes = code?.properties.className;
  const names = Array.isArray(classes) ? classes.map(String) : [];
  return names.find((name) => name.startsWith("language-"))?.slice("language-".length) ?? "";
}

/** Fenced code with its language and a button that copies it. */
export function CodeBlock({ node }: { node: Node | undefined }) {
  if (!node) return null;
  const text = textOf(node).replace(/\n$/, "");
  const language = languageOf(node);
  return (
    <figure className="overflow-hidden rounded-md border border-line bg-sunk">
      <figcaption className="flex items-center justify-between border-b border-line pl-3 font-sans text-xs text-soft">
        <span>{language || "text"}</span>
        <CopyButton text={text} label="Copy code" />
      </figcaption>
      <pre tabIndex={0} aria-label={language ? `Code, ${language}` : "Code"} className="overflow-x-auto p-3 font-mono text-[0.8125rem] leading-relaxed [font-variant-numeric:normal]">
        <code>{text}</code>
      </pre>
    </figure>
  );
}
