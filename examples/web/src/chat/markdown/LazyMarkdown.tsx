import { lazy, Suspense } from "react";

const Markdown = lazy(() => import("./Markdown").then((module) => ({ default: module.Markdown })));

/** Markdown, whose parser comes with the first text that needs it; until then the text is shown as it is written. */
export function LazyMarkdown({ text }: { text: string }) {
  return (
    <Suspense fallback={<Plain text={text} />}>
      <Markdown text={text} />
    </Suspense>
  );
}

/** A text as it is written. */
export function Plain({ text }: { text: string }) {
  return (
    <div className="prose whitespace-pre-wrap" dir="auto">
      {text}
    </div>
  );
}
