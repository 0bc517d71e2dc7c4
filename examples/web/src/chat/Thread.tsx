import { useEffect, useMemo, useRef, useState } from "react";
import { Icon } from "../ui/Icon";
import { useChat } from "./chatStore";
import { pathTo, withMessage } from "./tree";
import { Turn } from "./Turn";

/** Closer to the end than this, the view follows the answer. */
const followWithin = 60;

/** The open branch of the conversation, along the wire. */
export function Thread() {
  const { conversation, tree, run } = useChat();
  const scroller = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  const live = run?.message.conversationId === conversation.id ? run.message : null;
  const shown = useMemo(() => (live ? withMessage(tree, live) : tree), [tree, live]);
  const path = useMemo(() => pathTo(shown, conversation.leafId), [shown, conversation.leafId]);

  const toEnd = () => scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  useEffect(() => {
    if (atEnd) toEnd();
  }, [path, atEnd]);

  // Pictures arrive, and the composer grows, after the text has been followed.
  useEffect(() => {
    const element = scroller.current;
    if (!element || !atEnd) return;
    const observer = new ResizeObserver(toEnd);
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => { observer.disconnect(); };
  }, [atEnd]);

  // A question just asked is shown, wherever the reader was.
  const liveId = live?.id;
  useEffect(() => {
    if (liveId !== undefined) toEnd();
  }, [liveId]);

  const onScroll = () => {
    const element = scroller.current;
    if (element) setAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight < followWithin);
  };

  return (
    <div className="relative min-h-0 flex-1">
      <div ref={scroller} onScroll={onScroll} tabIndex={0} role="region" aria-label="Conversation" className="relative h-full overflow-y-auto outline-offset-[-2px]">
        <ol className="mx-auto w-full max-w-[46rem] px-3 pt-6 pb-10 sm:px-6">
          {path.map((message, index) => (
            <Turn key={message.id} message={message} tree={shown} first={index === 0} last={index === path.length - 1} prefill={message.id === live?.id ? (run?.prefill ?? null) : null} busy={run !== null} />
          ))}
        </ol>
      </div>
      <div aria-hidden="true" className="pointer-events-none absolute inset-x-0 bottom-0 h-6 bg-linear-to-t from-paper to-transparent" />
      {!atEnd && (
        <button type="button" onClick={() => { setAtEnd(true); toEnd(); }} className="absolute bottom-3 left-1/2 inline-flex min-h-9 -translate-x-1/2 items-center gap-1.5 rounded-full border border-line bg-raised px-3 text-sm shadow-sm">
          <Icon name="down" className="size-4" />
          To the end
        </button>
      )}
    </div>
  );
}
