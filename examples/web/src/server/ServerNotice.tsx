import { useSettings } from "../settings/settingsStore";
import { Button } from "../ui/Button";
import { answerHere, serverInUse } from "./answerFrom";
import { hostOf } from "./server";

/** That questions leave this device, and the way back; nothing where the tab answers. */
export function ServerNotice({ busy }: { busy: boolean }) {
  const server = useSettings(serverInUse);
  if (!server) return null;
  return (
    <div role="note" aria-label="Who answers" className="flex flex-wrap items-center gap-x-3 gap-y-1 px-2 pb-2 text-sm">
      <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        {server.model} on <strong className="font-medium">{hostOf(server.url)}</strong> answers. What you write is sent
        there.
      </p>
      <Button disabled={busy} onClick={answerHere}>
        Answer in this tab
      </Button>
    </div>
  );
}
