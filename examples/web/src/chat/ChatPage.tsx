import { useEffect, useState } from "react";
import { PageHeader } from "../app/PageHeader";
import { useSession } from "../app/session";
import { useHistory } from "../history/historyStore";
import { IconButton } from "../ui/Button";
import { Panel } from "../ui/Panel";
import { useChat } from "./chatStore";
import { ChatOptionsPanel } from "./ChatOptionsPanel";
import { Composer } from "./Composer";
import { EmptyChat } from "./EmptyChat";
import { EngineNotice } from "./EngineNotice";
import { ModelChip } from "./ModelChip";
import { NoWebGpu } from "./NoWebGpu";
import { Readings } from "./Readings";
import { Thread } from "./Thread";

export function ChatPage({ chatId }: { chatId: string | null }) {
  const { conversation, tree, show, announcement } = useChat();
  const [options, setOptions] = useState(false);
  const support = useSession((state) => state.support);
  const able = support?.webgpu !== false;
  const reason = support?.reason ?? "";
  const begun = tree.byId.size > 0;
  const historyError = useHistory(({ error, kept }) => error ?? (kept ? null : "This window keeps no files, so its chats end with it."));

  useEffect(() => {
    void show(chatId);
  }, [chatId, show]);

  return (
    <>
      <PageHeader title={conversation.title}>
        <ModelChip />
        <IconButton icon="tune" label="Options of this chat" onClick={() => setOptions(true)} />
      </PageHeader>
      {historyError !== null && <p role="alert" className="border-b border-line bg-tint px-5 py-2 text-sm">The history is not kept: {historyError}</p>}
      {begun ? <Thread key={conversation.id} /> : able ? <EmptyChat /> : <div className="min-h-0 flex-1 overflow-y-auto"><div className="mx-auto max-w-[46rem] px-4 py-8 sm:px-6"><NoWebGpu reason={reason} /></div></div>}
      <div className="mx-auto w-full max-w-[46rem] px-3 pb-[max(0.5rem,env(safe-area-inset-bottom))] sm:px-6">
        <EngineNotice begun={begun} />
        <Composer />
        <Readings />
      </div>
      <p aria-live="polite" className="sr-only" data-testid="announcement">{announcement}</p>
      <Panel open={options} title="Options of this chat" side="right" onClose={() => setOptions(false)}><ChatOptionsPanel /></Panel>
    </>
  );
}
