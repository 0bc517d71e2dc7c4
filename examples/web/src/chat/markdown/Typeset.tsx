import katex from "katex";
import "katex/dist/katex.min.css";
import { useCallback, useState } from "react";
import { bounds, isBounded } from "./bounds";
import { Source } from "./Formula";

interface Props {
  tex: string;
  display: boolean;
  source: string;
}

/** A formula by KaTeX, which builds elements and no HTML. One that it cannot read stays as it was written. */
export default function Typeset({ tex, display, source }: Props) {
  const [unread, setUnread] = useState<string | null>(null);
  const typeset = useCallback(
    (place: HTMLSpanElement | null) => {
      if (!place) return;
      try {
        katex.render(tex, place, { ...bounds, displayMode: display });
      } catch {
        setUnread(tex);
      }
    },
    [tex, display],
  );
  return unread === tex || !isBounded(tex) ? <Source source={source} /> : <span ref={typeset} />;
}
