import { lazy, Suspense } from "react";
import { Plain } from "../markdown/LazyMarkdown";

const FormedAnswer = lazy(() => import("./FormedAnswer"));

/** An answer in JSON, whose views come with the first of them. */
export function LazyFormedAnswer({ text, live }: { text: string; live: boolean }) {
  return (
    <Suspense fallback={<Plain text={text} />}>
      <FormedAnswer text={text} live={live} />
    </Suspense>
  );
}
