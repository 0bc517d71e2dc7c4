import type { Attachment } from "../message";
import { counted } from "../../ui/format";
import { clipsIn, isClip, type Clip } from "./clips";
import { useMediaUrl } from "./media";

/** The images and recordings of a question. */
export function Attachments({ attachments }: { attachments: readonly Attachment[] }) {
  return (
    <ul aria-label="Attachments" className="mt-2 flex flex-wrap items-center gap-2">
      {clipsIn(attachments).map((one) => (
        <li key={one.id} className="max-w-full">
          {isClip(one) ? <Film clip={one} /> : <Shown attachment={one} />}
        </li>
      ))}
    </ul>
  );
}

/** The frames of a video in a strip. */
function Film({ clip: { name, frames } }: { clip: Clip }) {
  return (
    <figure className="max-w-full">
      <div
        role="group"
        aria-label={`${name}, ${counted(frames.length, "frame")}`}
        tabIndex={0}
        className="flex max-w-full gap-1 overflow-x-auto rounded-md border border-line bg-sunk p-1"
      >
        {frames.map((frame) => (
          <Still key={frame.id} frame={frame} />
        ))}
      </div>
      <figcaption className="pt-0.5 text-xs text-soft">
        {name}, {counted(frames.length, "frame")}
      </figcaption>
    </figure>
  );
}

function Still({ frame }: { frame: Attachment }) {
  const url = useMediaUrl(frame);
  if (!url) return <span className="block h-16 w-24 shrink-0 rounded bg-sunk" aria-label={frame.name} role="img" />;
  return <img src={url} alt={frame.name} className="h-16 shrink-0 rounded object-contain" />;
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
