import type { Attachment } from "../message";

/** Several frames of one video. */
export interface Clip {
  id: string;
  name: string;
  fps: number;
  frames: [Attachment, ...Attachment[]];
}

/** clipsIn puts the frames of each video together, where the first of them stands. */
export function clipsIn(attachments: readonly Attachment[]): (Attachment | Clip)[] {
  const clips = new Map<string, Clip>();
  const list: (Attachment | Clip)[] = [];
  for (const attachment of attachments) {
    const { video, name } = attachment;
    if (!video) {
      list.push(attachment);
      continue;
    }
    const known = clips.get(video.id);
    if (known) {
      known.frames.push(attachment);
      continue;
    }
    const clip: Clip = { id: video.id, name: name.replace(/, \d+:\d\d$/, ""), fps: video.fps, frames: [attachment] };
    clips.set(video.id, clip);
    list.push(clip);
  }
  return list;
}

export const isClip = (one: Attachment | Clip): one is Clip => "frames" in one;
