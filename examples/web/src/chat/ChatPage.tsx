import { lazy, Suspense, useEffect, useState } from "react";
import { PageHeader } from "../app/PageHeader";
import { Toasts } from "../app/Toasts";
import { useHistory } from "../history/historyStore";
import { IconButton } from "../ui/Button";
import { Panel } from "../ui/Panel";
import { useChat } from "./chatStore";
import { Composer } from "./Composer";
import { isFull } from "./contextRoom";
import { EmptyChat } from "./EmptyChat";
import { EngineNotice } from "./EngineNotice";
import { FullContext } from "./FullContext";
import { ModelChip } from "./ModelChip";
import { Readings } from "./Readings";
import { Thread } from "./Thread";
import { useContextRoom } from "./useContextRoom";
import { WithoutWebGpu } from "./WithoutWebGpu";

const ChatOptionsPanel = lazy(() =>
  import("./ChatOptionsPanel").then((panel) => ({ default: panel.ChatOptionsPanel })),
);

/** What is read out when an answer ends. */
function Announcement() {
  return (
    <p aria-live="polite" className="sr-only" data-testid="announcement">
      {useChat((state) => state.announcement)}
    </p>
  );
}

/** What is written, and how much room there is for it. */
function Writing() {
  const room = useContextRoom();
  return (
    <>
      <FullContext room={room} />
      <Composer full={room !== null && isFull(room)} />
      <Readings room={room} />
    </>
  );
}

export function ChatPage({ chatId }: { chatId: string | null }) {
  const { id, title } = useChat((state) => state.conversation);
  const begun = useChat(({ tree }) => tree.byId.size > 0);
  const show = useChat((state) => state.show);
  const [options, setOptions] = useState(false);
  const historyError = useHistory(
    ({ error, kept }) =>
      error ?? (kept ? null : "This window cannot store files. Its chats are lost when you close it."),
  );

  useEffect(() => {
    void show(chatId);
  }, [chatId, show]);

  return (
    <>
      <PageHeader title={title}>
        <ModelChip />
        <IconButton icon="tune" label="Options of this chat" onClick={() => setOptions(true)} />
      </PageHeader>
      {historyError !== null && (
        <p role="alert" className="border-b border-wire bg-warn px-5 py-2 text-sm">
          The history is not saved: {historyError}
        </p>
      )}
      {begun ? <Thread key={id} /> : <EmptyChat />}
      {/* What comes and goes has room above the field, which stays where it is. */}
      <div className="mx-auto w-full max-w-[46rem] px-3 sm:px-6">
        <WithoutWebGpu />
        <EngineNotice />
      </div>
      <Toasts />
      <div className="mx-auto w-full max-w-[46rem] px-3 pb-[max(0.5rem,env(safe-area-inset-bottom))] sm:px-6">
        <Writing />
      </div>
      <Announcement />
      <Panel open={options} title="Options of this chat" side="right" onClose={() => setOptions(false)}>
        <Suspense>
          <ChatOptionsPanel />
        </Suspense>
      </Panel>
    </>
  );
}
