import { memo, useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { blocksOf } from "./blocks";
import { CodeBlock } from "./CodeBlock";
import { Formula } from "./Formula";
import { markFormulas } from "./formulas";
import { rehypeDirections, rehypeNumberColumns, remarkFormulas, textOf } from "./trees";

// What a model writes is never trusted: HTML in it stays text, addresses other than http(s) and mailto are dropped,
// and images are shown as links, since fetching one would tell its server that the answer was read.
const components: Components = {
  pre: ({ node }) => <CodeBlock node={node} />,
  a: ({ href, children }) =>
    href ? (
      <a href={href} target="_blank" rel="noreferrer noopener nofollow">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  img: ({ src, alt }) =>
    typeof src === "string" && src !== "" ? (
      <a href={src} target="_blank" rel="noreferrer noopener nofollow">
        {alt ? `Image: ${alt}` : "Image"}
      </a>
    ) : (
      <span>{alt}</span>
    ),
  // The only spans are formulas.
  span: ({ node, children }) => {
    const { dataTex, dataDisplay } = node?.properties ?? {};
    if (!node || typeof dataTex !== "string") return <span>{children}</span>;
    return <Formula tex={dataTex} display={dataDisplay === "block"} source={textOf(node)} />;
  },
  table: ({ children, dir }) => (
    <div className="table" dir={dir} tabIndex={0} role="region" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
  input: ({ checked }) => (
    <span aria-label={checked ? "done" : "open"} role="img">
      {checked ? "☑" : "☐"}
    </span>
  ),
};

const remarkPlugins = [remarkGfm, remarkFormulas];
const rehypePlugins = [rehypeNumberColumns, rehypeDirections];

const allowed = /^(https?:|mailto:)/i;

/** safeAddress keeps addresses that leave the page visibly, and nothing else. */
export function safeAddress(address: string): string {
  return allowed.test(address.trim()) ? address.trim() : "";
}

const Block = memo(function Block({ text }: { text: string }) {
  return (
    <ReactMarkdown
      remarkPlugins={remarkPlugins}
      rehypePlugins={rehypePlugins}
      components={components}
      urlTransform={safeAddress}
    >
      {text}
    </ReactMarkdown>
  );
});

/** Markdown as a page to read. While it streams, only the block that grows is parsed again. */
export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => blocksOf(markFormulas(text)), [text]);
  return (
    <div className="prose">
      {blocks.map((block, index) => (
        <Block key={index} text={block} />
      ))}
    </div>
  );
}
