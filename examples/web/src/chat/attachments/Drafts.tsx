import { IconButton } from "../../ui/Button";
import { bytes, counted } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import type { Attachment } from "../message";
import { clipsIn, isClip } from "./clips";
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
      {clipsIn(attachments).map((one) => (
        <li
          key={one.id}
          className="flex max-w-full items-center gap-2 rounded-md border border-line bg-paper py-1 pr-1 pl-1.5 text-sm"
        >
          <Preview attachment={isClip(one) ? one.frames[0] : one} />
          <span className="min-w-0 truncate">{one.name}</span>
          <span className="shrink-0 text-xs text-soft">
            {isClip(one) ? counted(one.frames.length, "frame") : bytes(one.size)}
          </span>
          <IconButton small icon="close" label={`Remove ${one.name}`} onClick={() => onRemove(one.id)} />
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
