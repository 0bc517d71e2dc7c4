import { pageHref } from "../app/route";
import { Button } from "../ui/Button";
import { count } from "../ui/format";
import { Icon } from "../ui/Icon";
import { useChat } from "./chatStore";
import { isFull, outlookOf, type ContextRoom } from "./contextRoom";
import { draftKey, emptyDraft, useDraftStore } from "./drafts";
import { pathTo } from "./tree";

const outlooks = {
  roomy: "",
  tight: "The context is nearly full. Soon the oldest messages will be left out.",
  leaving: "The context is full: the model is asked without the oldest messages.",
};

/**
 * That nothing more can be asked here, and what can be done; or that messages are left out. It stands where the next
 * message is written.
 */
export function FullContext({ room }: { room: ContextRoom | null }) {
  const { conversation, tree, run } = useChat();
  if (!room || run) return null;
  if (!isFull(room)) {
    const outlook = outlookOf(room);
    const text = outlook === "tight" && !room.forgets ? "The context is nearly full." : outlooks[outlook];
    return text === "" ? null : (
      <p role="status" className="mb-1.5 px-2 text-xs text-soft">
        {text}
      </p>
    );
  }
  // An answer that failed for it says so itself.
  const said = pathTo(tree, conversation.leafId).at(-1)?.failure === "context-full";
  const { used, context } = room;
  return (
    <div role="status" className="mb-2.5 rounded-lg border border-wire bg-warn p-3 text-sm">
      {!said && (
        <p className="flex gap-2">
          <Icon name="warn" className="mt-0.5 size-4 shrink-0 text-wire" />
          <span>
            The context is full: with your message, this chat takes {count(used)} of {count(context)} tokens.
          </span>
        </p>
      )}
      <Actions room={room} />
    </div>
  );
}

function Actions({ room }: { room: ContextRoom }) {
  const { conversation, tree, begin } = useChat();
  const { change, drop, drafts } = useDraftStore();
  const { options } = conversation;
  const larger = room.context < room.most;
  /** Takes what has been written along. */
  const beginAgain = () => {
    const key = draftKey(conversation, tree);
    const draft = drafts.get(key) ?? emptyDraft;
    begin(options);
    if (key === "new" || draft === emptyDraft) return;
    drop(key);
    change("new", () => draft);
  };
  return (
    <div className="flex flex-wrap items-center gap-2 not-first:mt-2.5">
      {tree.byId.size > 0 && <Button onClick={beginAgain}>Start a new chat</Button>}
      {larger && (
        <a
          className="inline-flex min-h-9 items-center px-1 text-accent underline underline-offset-2"
          href={pageHref.settings}
        >
          Load the model with a larger context
        </a>
      )}
    </div>
  );
}
