import { loaded, withUrl } from "./probe";

/** A picture out of a video. */
export interface Frame {
  /** Its number in the whole video. */
  index: number;
  picture: Blob;
}

/** How many frames of a video the model sees at most, and how many a second there are: a browser does not tell. */
export const usual = { frames: 32, fps: 24 };

/** How long a video may keep the browser busy, in milliseconds. */
const patience = 60_000;
/** How long a frame may take once its place is found, in milliseconds. */
const framePatience = 500;
/** The longer side of a frame, in pixels: more than the model looks at. */
const longSide = 1024;

/**
 * framesOf takes pictures from a video at even distances. It has none where the file holds sound alone, and is null
 * where the browser cannot play it.
 */
export function framesOf(file: Blob): Promise<Frame[] | null> {
  return withUrl(file, (url, done) => void take(url).then(done, () => done(null)), patience);
}

async function take(url: string): Promise<Frame[]> {
  const player = document.createElement("video");
  player.muted = true;
  const seconds = await loaded(player, url);
  const canvas = canvasFor(player);
  if (!canvas) return [];
  const frames: Frame[] = [];
  for (const index of indicesIn(seconds)) {
    // Its middle: at its very beginning, a player may still show the one before.
    await seek(player, Math.min((index + 0.5) / usual.fps, seconds));
    frames.push({ index, picture: await pictureOf(player, canvas) });
  }
  return frames;
}

/** indicesIn chooses frames evenly, as the models' reference does: ⌊i·total / n⌋ for i < n. */
export function indicesIn(seconds: number): number[] {
  const total = Math.max(1, Math.floor(seconds * usual.fps));
  const number = Math.min(usual.frames, total);
  return Array.from({ length: number }, (_, i) => Math.floor((i * total) / number));
}

function canvasFor({ videoWidth, videoHeight }: HTMLVideoElement): HTMLCanvasElement | null {
  if (videoWidth === 0 || videoHeight === 0) return null;
  const scale = Math.min(1, longSide / Math.max(videoWidth, videoHeight));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(videoWidth * scale));
  canvas.height = Math.max(1, Math.round(videoHeight * scale));
  return canvas;
}

/**
 * seek has a player stand at a time, with a frame to draw. A busy browser says it has found the place before it has the
 * frame, so that is waited for, too: not for long, since a page in the background is not told of frames.
 */
function seek(player: HTMLVideoElement, at: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let framed = false;
    const arrived = () => {
      if (framed && !player.seeking) resolve();
    };
    const look = () =>
      player.requestVideoFrameCallback((_, { mediaTime }) => {
        // The end's frame may come late from when the length was looked for.
        if (mediaTime > at) {
          look();
          return;
        }
        framed = true;
        arrived();
      });
    player.onseeked = () => {
      arrived();
      if (!player.seeking) setTimeout(resolve, framePatience);
    };
    player.onerror = () => reject(new Error(player.error?.message ?? "The video ends unexpectedly."));
    look();
    player.currentTime = at;
  });
}

function pictureOf(player: HTMLVideoElement, canvas: HTMLCanvasElement): Promise<Blob> {
  canvas.getContext("2d")?.drawImage(player, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => {
        if (blob) resolve(blob);
        else reject(new Error("The frame cannot be encoded."));
      },
      "image/jpeg",
      0.92,
    );
  });
}
