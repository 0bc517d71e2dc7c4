import { defaultRangeExtractor, useVirtualizer, type Range } from "@tanstack/react-virtual";
import { useRef, useState } from "react";
import type { Conversation } from "../chat/message";
import type { Hit } from "./api";
import { HistoryItem } from "./HistoryItem";

export interface Row {
  conversation: Conversation;
  hit: Hit | null;
}

interface Props {
  items: readonly Row[];
  openId: string | null;
  runningIn: string | undefined;
  onDelete: (conversation: Conversation) => Promise<void>;
}

/** Pixels of a row without a hit; rows are measured once they are there. */
const usualHeight = 50;

/** The rows that are in sight, out of however many there are. One with the focus stays while it is scrolled away. */
export function HistoryRows({ items, openId, runningIn, onDelete }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const [held, setHeld] = useState<string | null>(null);
  const withHeld = (range: Range) => {
    const shown = defaultRangeExtractor(range);
    const at = held === null ? -1 : items.findIndex(({ conversation }) => conversation.id === held);
    return at < 0 || shown.includes(at) ? shown : [...shown, at].sort((a, b) => a - b);
  };
  // eslint-disable-next-line react-hooks/incompatible-library -- of the compiler, which this app does not use
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => usualHeight,
    overscan: 8,
    getItemKey: (index) => items[index]?.conversation.id ?? index,
    rangeExtractor: withHeld,
  });
  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
      <ul aria-label="Chats" className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ key, index, start }) => {
          const row = items[index];
          if (!row) return null;
          const { conversation, hit } = row;
          return (
            <HistoryItem
              key={key}
              place={{
                ref: rows.measureElement,
                "data-index": index,
                "aria-posinset": index + 1,
                "aria-setsize": items.length,
                style: { position: "absolute", insetInline: 0, top: 0, transform: `translateY(${start}px)` },
                onFocus: () => setHeld(conversation.id),
                onBlur: () => setHeld(null),
              }}
              conversation={conversation}
              hit={hit}
              open={conversation.id === openId}
              running={conversation.id === runningIn}
              onDelete={onDelete}
            />
          );
        })}
      </ul>
    </div>
  );
}
