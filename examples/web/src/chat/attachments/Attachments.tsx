import type { Attachment } from "../message";
import { useMediaUrl } from "./media";

/** The images and recordings of a question. */
export function Attachments({ attachments }: { attachments: readonly Attachment[] }) {
  return (
    <ul aria-label="Attachments" className="mt-2 flex flex-wrap items-center gap-2">
      {attachments.map((attachment) => (
        <li key={attachment.id} className="max-w-full">
          <Shown attachment={attachment} />
        </li>
      ))}
    </ul>
  );
}

function Shown({ attachment }: { attachment: Attachment }) {
  const url = useMediaUrl(attachment);
  const { kind, name } = attachment;
  if (url === undefined) return <span className="text-sm text-soft italic">{name} is no longer available.</span>;
  if (url === null) return <span className="block h-24 w-32 rounded-md bg-sunk" aria-label={name} role="img" />;
  if (kind === "audio") return <audio controls src={url} aria-label={name} className="h-10 max-w-full" />;
  return (
    <a href={url} target="_blank" rel="noopener" aria-label={`Open ${name}`} className="block rounded-md">
      <img src={url} alt={name} className="max-h-48 max-w-full rounded-md border border-line object-contain" />
    </a>
  );
}
