import { IconButton } from "../../ui/Button";
import { bytes } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import type { Attachment } from "../message";
import { useMediaUrl } from "./media";

/** What will go with the message that is being written. */
export function Drafts({
  attachments,
  onRemove,
}: {
  attachments: readonly Attachment[];
  onRemove: (id: string) => void;
}) {
  if (attachments.length === 0) return null;
  return (
    <ul aria-label="Attached" className="flex w-full flex-wrap gap-2 px-1 pt-1 pb-1.5">
      {attachments.map((attachment) => (
        <li
          key={attachment.id}
          className="flex max-w-full items-center gap-2 rounded-md border border-line bg-paper py-1 pr-1 pl-1.5 text-sm"
        >
          <Preview attachment={attachment} />
          <span className="min-w-0 truncate">{attachment.name}</span>
          <span className="shrink-0 text-xs text-soft">{bytes(attachment.size)}</span>
          <IconButton small icon="close" label={`Remove ${attachment.name}`} onClick={() => onRemove(attachment.id)} />
        </li>
      ))}
    </ul>
  );
}

function Preview({ attachment }: { attachment: Attachment }) {
  const url = useMediaUrl(attachment);
  if (attachment.kind === "image" && url) return <img src={url} alt="" className="size-9 rounded object-cover" />;
  return <Icon name={attachment.kind === "image" ? "image" : "microphone"} className="size-4.5 text-soft" />;
}
