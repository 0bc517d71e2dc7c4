import type { Element } from "hast";
import { lazy, Suspense } from "react";
import { CopyButton } from "../../ui/CopyButton";
import { textOf } from "./trees";

/** Longer code stays in one color: it is read again with each word that comes. */
const longest = 20_000;

// The highlighter comes with the first code whose language is named. Where it cannot be fetched, code stays plain.
const HighlightedCode = lazy(() =>
  import("./HighlightedCode").catch(() => ({ default: ({ code }: { code: string }) => code })),
);

function languageOf(node: Element): string {
  const code = node.children.find((child) => child.type === "element");
  const classes = code?.properties.className;
  const names = Array.isArray(classes) ? classes.map(String) : [];
  return names.find((name) => name.startsWith("language-"))?.slice("language-".length) ?? "";
}

/** Fenced code with its language and a button that copies it. */
export function CodeBlock({ node }: { node: Element | undefined }) {
  if (!node) return null;
  const text = textOf(node).replace(/\n$/, "");
  const language = languageOf(node);
  return (
    <figure dir="ltr" className="overflow-hidden rounded-md border border-line bg-sunk">
      <figcaption className="flex items-center justify-between border-b border-line pl-3 font-sans text-xs text-soft">
        <span>{language || "text"}</span>
        <CopyButton text={text} label="Copy code" />
      </figcaption>
      <pre
        tabIndex={0}
        aria-label={language ? `Code, ${language}` : "Code"}
        className="overflow-x-auto p-3 font-mono text-[0.8125rem] leading-relaxed [font-variant-numeric:normal]"
      >
        <code>
          {language === "" || text.length > longest ? (
            text
          ) : (
            <Suspense fallback={text}>
              <HighlightedCode code={text} language={language.toLowerCase()} />
            </Suspense>
          )}
        </code>
      </pre>
    </figure>
  );
}
