import { startTransition, useEffect, useMemo, useRef, useState } from "react";
import { whenIdle } from "../app/idle";
import { Icon } from "../ui/Icon";
import { useChat } from "./chatStore";
import { Nearby, NearbyContext } from "./nearby";
import { pathTo } from "./tree";
import { Turn } from "./Turn";

/** Closer to the end than this, the view follows the answer. */
const followWithin = 60;

/** So many messages are laid out at once when a chat is opened; those before them when they come near. */
const openedAt = 12;

/** So many messages are in the page when a chat is opened, and so many more come each time that it is idle. */
const tail = { first: 60, more: 200 };

/**
 * How many of so many messages are not in the page yet: those at the start of a long chat, which is opened at its end.
 */
function useUnmounted(count: number): number {
  const [unmounted, setUnmounted] = useState(Math.max(0, count - tail.first));
  useEffect(() => {
    let here = true;
    if (unmounted > 0)
      void whenIdle().then(() => {
        if (here) startTransition(() => setUnmounted(Math.max(0, unmounted - tail.more)));
      });
    return () => {
      here = false;
    };
  }, [unmounted]);
  // Another branch may be shorter.
  return Math.min(unmounted, Math.max(0, count - tail.first));
}

/** The open branch of the conversation, along the wire. */
export function Thread() {
  const { conversation, tree, run } = useChat();
  const scroller = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  // What is laid out anew in the frame of a scroll asks before the state has followed it.
  const following = useRef(true);
  const lastTop = useRef(0);
  const live = run?.message.conversationId === conversation.id ? run.message : null;
  const [nearby] = useState(() => new Nearby());
  const stored = useMemo(() => pathTo(tree, conversation.leafId), [tree, conversation.leafId]);
  // The tree stays what it was while an answer grows, and with it every other message.
  const path = useMemo(
    () => (live ? stored.map((message) => (message.id === live.id ? live : message)) : stored),
    [stored, live],
  );

  const unmounted = useUnmounted(path.length);

  const toEnd = () => scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  useEffect(() => {
    if (following.current) toEnd();
  }, [path, atEnd]);

  // Pictures arrive, and the composer grows, after the text has been followed.
  useEffect(() => {
    const element = scroller.current;
    if (!element || !atEnd) return;
    const observer = new ResizeObserver(() => {
      if (following.current) toEnd();
    });
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => {
      observer.disconnect();
    };
  }, [atEnd]);

  // A question just asked is shown, wherever the reader was.
  const liveId = live?.id;
  useEffect(() => {
    if (liveId !== undefined) toEnd();
  }, [liveId]);

  const onScroll = () => {
    const element = scroller.current;
    if (!element) return;
    const { scrollHeight, scrollTop, clientHeight } = element;
    // Only who scrolls up leaves the end: what grows below is followed.
    if (scrollHeight - scrollTop - clientHeight < followWithin) following.current = true;
    else if (scrollTop < lastTop.current) following.current = false;
    lastTop.current = scrollTop;
    setAtEnd(following.current);
  };

  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        onScroll={onScroll}
        tabIndex={0}
        role="region"
        data-scroller=""
        aria-label="Conversation"
        className="relative h-full overflow-y-auto outline-offset-[-2px]"
      >
        <ol className="mx-auto w-full max-w-[46rem] px-3 pt-6 pb-10 sm:px-6">
          <NearbyContext value={nearby}>
            {path.map((message, index) =>
              index < unmounted ? null : (
                <Turn
                  key={message.id}
                  message={message}
                  tree={tree}
                  first={index === 0}
                  last={index === path.length - 1}
                  atEnd={index >= path.length - openedAt}
                  prefill={message.id === live?.id ? (run?.prefill ?? null) : null}
                  busy={run !== null}
                />
              ),
            )}
          </NearbyContext>
        </ol>
      </div>
      <div
        aria-hidden="true"
        className="pointer-events-none absolute inset-x-0 bottom-0 h-6 bg-linear-to-t from-paper to-transparent"
      />
      {!atEnd && (
        <button
          type="button"
          onClick={() => {
            following.current = true;
            setAtEnd(true);
            toEnd();
          }}
          className={
            "absolute bottom-3 left-1/2 inline-flex min-h-9 -translate-x-1/2 items-center gap-1.5 rounded-full " +
            "border border-line bg-raised px-3 text-sm shadow-sm"
          }
        >
          <Icon name="down" className="size-4" />
          To the end
        </button>
      )}
    </div>
  );
}
