// Videos as the model sees them: frames at even distances, drawn small enough to be handed over. The browser
// decodes: animations by an ImageDecoder, everything else by a video element, which only pages have.
import { cancelled, GemwireError } from "./error.js";
import type { VideoFrames, VideoPart } from "./types.js";

/** The rule of the models' reference, which transformers follows too. */
const usual = { frames: 32, fps: 24, budget: 70 };
const mostFrames = 1024;
/** Pixels of a soft token, and how many of them a frame keeps for each that the model looks at. */
const tokenPixels = 48 * 48;
const spare = 2;
/** How long a video may take to begin, and a frame to come, in milliseconds. */
const patience = { head: 30_000, frame: 10_000, drawn: 500 };

const bad = (message: string, advice?: string) => new GemwireError("bad-media", message, { advice });

/** Frames one behind the other: red, green, blue and alpha of each pixel. */
export interface Drawn {
  data: ArrayBuffer;
  format: "rgba";
  width: number;
  height: number;
  /** Their numbers in the whole video. */
  indices: number[];
  /** How many frames a second the whole has. */
  fps: number;
}

/** sample chooses frames evenly: ⌊i·total / n⌋ for i < n, with n the lesser of both numbers. */
export function sample(total: number, most: number): number[] {
  const n = Math.min(total, most);
  return Array.from({ length: n }, (_, i) => Math.floor((i * total) / n));
}

/** drawVideo draws the frames of a file, or those that are given. */
export async function drawVideo(
  video: Blob | VideoFrames,
  { frames, fps, budget }: Pick<VideoPart, "frames" | "fps" | "budget">,
  signal?: AbortSignal,
): Promise<Drawn> {
  const most = frames ?? usual.frames;
  if (!Number.isInteger(most) || most < 1 || most > mostFrames)
    throw new GemwireError("bad-argument", `frames is ${most}; a video gives 1 to ${mostFrames}`);
  if (fps !== undefined && !(fps > 0 && Number.isFinite(fps)))
    throw new GemwireError("bad-argument", `fps is ${fps}; give the frames a second`);
  const sheet = new Sheet((budget ?? usual.budget) * tokenPixels * spare, signal);
  if (!(video instanceof Blob)) return givenFrames(video, sheet, fps);
  if (await isAnimation(video)) return animationFrames(video, sheet, most, signal);
  return playedFrames(video, sheet, most, fps ?? usual.fps, signal);
}

// A Sheet collects frames of one size.
class Sheet {
  #most: number;
  #signal: AbortSignal | undefined;
  #context: OffscreenCanvasRenderingContext2D | null = null;
  #frames: Uint8ClampedArray[] = [];

  constructor(pixels: number, signal?: AbortSignal) {
    this.#most = pixels;
    this.#signal = signal;
  }

  add(image: CanvasImageSource, width: number, height: number): void {
    if (this.#signal?.aborted) throw cancelled(this.#signal);
    if (!(width > 0 && height > 0)) throw bad("a video without pictures");
    if (!this.#context) {
      const scale = Math.min(1, Math.sqrt(this.#most / (width * height)));
      const side = (length: number) => Math.max(1, Math.round(length * scale));
      this.#context = new OffscreenCanvas(side(width), side(height)).getContext("2d", { willReadFrequently: true });
      if (!this.#context) throw bad("the browser lends no canvas");
      this.#context.imageSmoothingQuality = "high";
    }
    const { canvas } = this.#context;
    this.#context.drawImage(image, 0, 0, canvas.width, canvas.height);
    this.#frames.push(this.#context.getImageData(0, 0, canvas.width, canvas.height).data);
  }

  end(indices: number[], fps: number): Drawn {
    if (!this.#context || this.#frames.length !== indices.length) throw bad("a video without pictures");
    const { width, height } = this.#context.canvas;
    const data = new Uint8Array(4 * width * height * this.#frames.length);
    for (const [i, frame] of this.#frames.entries()) data.set(frame, i * 4 * width * height);
    return { data: data.buffer, format: "rgba", width, height, indices, fps };
  }
}

async function givenFrames({ frames, indices, fps }: VideoFrames, sheet: Sheet, rate?: number): Promise<Drawn> {
  if (!Array.isArray(frames) || frames.length < 1 || frames.length > mostFrames)
    throw new GemwireError("bad-argument", `frames of a video must be a list of 1 to ${mostFrames} pictures`);
  const numbers = indices ? [...indices] : frames.map((_, i) => i);
  if (
    numbers.length !== frames.length ||
    numbers.some((n, i) => !Number.isInteger(n) || n < 0 || (i > 0 && n < numbers[i - 1]!))
  )
    throw new GemwireError("bad-argument", "indices must be the frames' numbers in the whole, in ascending order");
  for (const frame of frames as ImageBitmapSource[]) {
    const bitmap = await createImageBitmap(frame).catch((error: Error) => {
      throw new GemwireError("bad-media", `a frame of a video that cannot be read: ${error.message}`, { cause: error });
    });
    try {
      sheet.add(bitmap, bitmap.width, bitmap.height);
    } finally {
      bitmap.close();
    }
  }
  return sheet.end(numbers, fps ?? rate ?? usual.fps);
}

async function isAnimation(file: Blob): Promise<boolean> {
  const head = String.fromCharCode(...new Uint8Array(await file.slice(0, 12).arrayBuffer()));
  return /^(GIF8|\x89PNG|RIFF....WEBP)/s.test(head);
}

async function typeOf(file: Blob): Promise<string> {
  const first = new Uint8Array(await file.slice(0, 1).arrayBuffer())[0];
  return first === 0x47 ? "image/gif" : first === 0x89 ? "image/png" : "image/webp";
}

async function animationFrames(file: Blob, sheet: Sheet, most: number, signal?: AbortSignal): Promise<Drawn> {
  if (typeof ImageDecoder === "undefined")
    throw new GemwireError("unsupported", "this browser does not take animations apart", {
      advice: "Give the video as MP4 or WebM, or its frames.",
    });
  const decoder = new ImageDecoder({ data: file.stream(), type: await typeOf(file) });
  try {
    await decoder.completed;
    const total = decoder.tracks.selectedTrack?.frameCount ?? 0;
    const indices = sample(total, most);
    let each = 0; // microseconds
    for (const frameIndex of indices) {
      if (signal?.aborted) throw cancelled(signal);
      const { image } = await decoder.decode({ frameIndex });
      each ||= image.duration ?? 0;
      sheet.add(image, image.displayWidth, image.displayHeight);
      image.close();
    }
    return sheet.end(indices, each > 0 ? 1e6 / each : usual.fps);
  } catch (error) {
    if (error instanceof GemwireError) throw error;
    throw new GemwireError("bad-media", `an animation that the browser cannot decode: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    decoder.close();
  }
}

async function playedFrames(file: Blob, sheet: Sheet, most: number, fps: number, signal?: AbortSignal): Promise<Drawn> {
  if (typeof document === "undefined")
    throw new GemwireError("unsupported", "a video cannot be played in a worker", {
      advice: "Take its frames on the page, and give them as { frames, indices, fps }.",
    });
  const player = document.createElement("video");
  const url = URL.createObjectURL(file);
  try {
    player.muted = true;
    const seconds = await lengthOf(player, url);
    // A player does not say how many frames there are: the rate that is assumed tells.
    const indices = sample(Math.max(1, Math.floor(seconds * fps)), most);
    for (const index of indices) {
      if (signal?.aborted) throw cancelled(signal);
      await seek(player, Math.min((index + 0.5) / fps, seconds));
      sheet.add(player, player.videoWidth, player.videoHeight);
    }
    return sheet.end(indices, fps);
  } finally {
    player.removeAttribute("src");
    player.load();
    URL.revokeObjectURL(url);
  }
}

/** lengthOf has a player read the head of a file, and is its length in seconds. */
function lengthOf(player: HTMLVideoElement, url: string): Promise<number> {
  return within(patience.head, (resolve, reject) => {
    player.onloadedmetadata = () => {
      if (Number.isFinite(player.duration)) {
        resolve(player.duration);
        return;
      }
      // What a recorder has written knows its length only at its end.
      player.ondurationchange = () => {
        if (Number.isFinite(player.duration)) resolve(player.duration);
      };
      player.currentTime = 1e9;
    };
    player.onerror = () => reject(bad(`a video that the browser cannot play: ${player.error?.message ?? "unknown"}`));
    player.preload = "auto";
    player.src = url;
  });
}

// seek has a player stand at a time, with a frame to draw. A busy browser says it has found the place before it has the
// frame, so that is waited for, too: not for long, since a page in the background is not told of frames.
function seek(player: HTMLVideoElement, at: number): Promise<void> {
  return within(patience.frame, (resolve, reject) => {
    let framed = false;
    const arrived = () => {
      if (framed && !player.seeking) resolve();
    };
    player.onseeked = () => {
      arrived();
      setTimeout(resolve, patience.drawn);
    };
    player.onerror = () => reject(bad(`a video that ends unexpectedly: ${player.error?.message ?? "unknown"}`));
    if ("requestVideoFrameCallback" in player)
      player.requestVideoFrameCallback(() => {
        framed = true;
        arrived();
      });
    player.currentTime = at;
  });
}

function within<T>(
  milliseconds: number,
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(bad("a video that the browser takes too long to play")), milliseconds);
    start(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
