import { memo, useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { CodeBlock } from "./CodeBlock";
import { blocksOf } from "./markdownBlocks";

// What a model writes is never trusted: HTML in it stays text, addresses other than http(s) and mailto are dropped,
// and images are shown as links, since fetching one would tell its server that the answer was read.
const components: Components = {
  pre: ({ node }) => <CodeBlock node={node} />,
  a: ({ href, children }) => (href ? <a href={href} target="_blank" rel="noreferrer noopener nofollow">{children}</a> : <span>{children}</span>),
  img: ({ src, alt }) => (typeof src === "string" && src !== "" ? <a href={src} target="_blank" rel="noreferrer noopener nofollow">{alt ? `Image: ${alt}` : "Image"}</a> : <span>{alt}</span>),
  table: ({ children }) => <div className="table" tabIndex={0} role="region" aria-label="Table"><table>{children}</table></div>,
  input: ({ checked }) => <span aria-label={checked ? "done" : "open"} role="img">{checked ? "☑" : "☐"}</span>,
};

const plugins = [remarkGfm];

const allowed = /^(https?:|mailto:)/i;

/** safeAddress keeps addresses that leave the page visibly, and nothing else. */
export function safeAddress(address: string): string {
  return allowed.test(address.trim()) ? address.trim() : "";
}

const Block = memo(function Block({ text }: { text: string }) {
  return <ReactMarkdown remarkPlugins={plugins} components={components} urlTransform={safeAddress}>{text}</ReactMarkdown>;
});

/** Markdown as a page to read. While it streams, only the block that grows is parsed again. */
export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return <div className="prose">{blocks.map((block, index) => <Block key={index} text={block} />)}</div>;
}
