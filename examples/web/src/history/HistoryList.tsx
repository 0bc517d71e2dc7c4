import { lazy, Suspense, useDeferredValue, useEffect, useState } from "react";
import { chatHref, goTo } from "../app/route";
import { searchFieldId } from "../app/shortcuts";
import { useToasts } from "../app/toasts";
import { useChat } from "../chat/chatStore";
import type { Conversation } from "../chat/message";
import { counted } from "../ui/format";
import { Icon } from "../ui/Icon";
import type { Hit } from "./api";
import { groupBy } from "./groupBy";
import type { Row } from "./HistoryRows";
import { useHistory } from "./historyStore";

// A first visit has no chats.
const HistoryRows = lazy(() => import("./HistoryRows").then((rows) => ({ default: rows.HistoryRows })));

/** The chats that a search found, in its order, each with its first hit in a message. */
function foundIn(conversations: Conversation[], hits: Hit[]): Row[] {
  const byChat = groupBy(hits, ({ conversationId }) => conversationId);
  const found = [];
  for (const [id, own] of byChat) {
    const conversation = conversations.find((one) => one.id === id);
    if (conversation) found.push({ conversation, hit: own.find(({ snippet }) => snippet !== "") ?? null });
  }
  return found;
}

export function HistoryList({ openId }: { openId: string | null }) {
  const { opened, conversations, search, find, remove, restore } = useHistory();
  const showToast = useToasts((state) => state.show);
  const runningIn = useChat((state) => state.run?.message.conversationId);
  const [typed, setTyped] = useState("");
  const deferred = useDeferredValue(typed);

  useEffect(() => {
    const timer = setTimeout(() => void find(deferred), 120);
    return () => {
      clearTimeout(timer);
    };
  }, [deferred, find]);

  const items = search
    ? foundIn(conversations, search.hits)
    : conversations.map((conversation) => ({ conversation, hit: null }));

  const deleteChat = async ({ id, title }: Conversation) => {
    if (runningIn === id) useChat.getState().stop();
    if (openId === id) goTo(chatHref(null));
    await remove(id);
    showToast(`“${title}” is deleted.`, {
      label: "Undo",
      run: () =>
        void restore(id).then(() => {
          if (openId === id) goTo(chatHref(id));
        }),
    });
  };

  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="space-y-2 px-3 pb-2">
        <a
          href={chatHref(null)}
          className={
            "flex min-h-10 items-center justify-center gap-1.5 rounded-md border border-line bg-raised text-sm " +
            "font-medium hover:border-soft"
          }
        >
          <Icon name="plus" className="size-4" />
          New chat
        </a>
        <div className="relative">
          <Icon name="search" className="pointer-events-none absolute top-3 left-2.5 size-4 text-soft" />
          <input
            id={searchFieldId}
            type="search"
            aria-label="Search the chats"
            placeholder="Search"
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
            className={
              "min-h-10 w-full rounded-md border border-transparent bg-paper pr-2 pl-8.5 text-sm " +
              "placeholder:text-soft focus:border-line"
            }
          />
        </div>
      </div>
      <p role="status" className="sr-only">
        {search ? `${counted(items.length, "chat")} found` : ""}
      </p>
      {items.length === 0 ? (
        <p className="px-5 py-3 text-sm text-soft" aria-busy={!opened}>
          {!opened
            ? ""
            : search
              ? "No chat contains these words."
              : "Your chats appear here. They stay on this device."}
        </p>
      ) : (
        <Suspense fallback={<div aria-busy="true" className="flex-1" />}>
          <HistoryRows items={items} openId={openId} runningIn={runningIn} onDelete={deleteChat} />
        </Suspense>
      )}
      <div className="flex-none" />
    </div>
  );
}
