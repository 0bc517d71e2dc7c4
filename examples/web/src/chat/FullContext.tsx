import { pageHref } from "../app/route";
import { useSettings } from "../settings/settingsStore";
import { Button } from "../ui/Button";
import { count } from "../ui/format";
import { Icon } from "../ui/Icon";
import { useChat } from "./chatStore";
import { isFull, waysOut, type ContextRoom } from "./contextRoom";
import { draftKey, emptyDraft, useDraftStore } from "./drafts";
import { pathTo } from "./tree";

/** That nothing more can be asked here, and what can be done. It stands where the next message is written. */
export function FullContext({ room }: { room: ContextRoom | null }) {
  const { conversation, tree, run } = useChat();
  if (!room || run || !isFull(room)) return null;
  // An answer that failed for it says so itself.
  const said = pathTo(tree, conversation.leafId).at(-1)?.failure === "context-full";
  const { used, answer, context } = room;
  const wanted = answer === 0 ? "" : `, and an answer may take ${count(answer)}`;
  return (
    <div role="status" className="mb-2.5 rounded-lg border border-wire bg-warn p-3 text-sm">
      {!said && (
        <p className="flex gap-2">
          <Icon name="warn" className="mt-0.5 size-4 shrink-0 text-wire" />
          <span>
            The context is full: with your message, this chat takes {count(used)} of {count(context)} tokens{wanted}.
          </span>
        </p>
      )}
      <Actions room={room} />
    </div>
  );
}

function Actions({ room }: { room: ContextRoom }) {
  const { conversation, tree, begin, setOptions } = useChat();
  const sampling = useSettings((state) => state.sampling);
  const { change, drop, drafts } = useDraftStore();
  const { options } = conversation;
  const { shorter, larger } = waysOut(room);
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
      {shorter !== null && (
        <Button
          onClick={() => void setOptions({ sampling: { ...(options.sampling ?? sampling), maxTokens: shorter } })}
        >
          Answer in at most {count(shorter)} tokens
        </Button>
      )}
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
