// Images and recordings of messages, made ready for the worker: bytes of files
// beside the messages, or pixels and samples where there is no file. The worker
// decodes pictures; recordings other than WAV are decoded here, since only pages
// have an OfflineAudioContext.
import { cancelled, GemwireError } from "./error.js";
import type { WireMedium } from "./protocol.js";
import { absolute } from "./source.js";
import type { AudioInput, ImageInput, Message, Part, SoundSamples, VideoFrames, VideoPart } from "./types.js";
import { drawVideo } from "./video.js";

/** Bytes of a file, before anything is read of it. A clip that is split may be longer. */
const most = { image: 64 << 20, audio: 64 << 20, split: 256 << 20, video: 2 ** 31 };
/** Pixels of a picture that comes without a file: four bytes each, twice for a moment. */
const mostPixels = 25e6;
/** Seconds of a recording, and of one that is split. */
const longest = { audio: 30, split: 15 * 60 };
/** What the model hears; the browser's decoder resamples to it. */
const modelRate = 16_000;
/** A compressed file of fewer bytes cannot hold so much sound that memory would end. */
const harmless = 4 << 20;

const bad = (message: string, advice?: string) => new GemwireError("bad-media", message, { advice });

/** A conversation as the worker takes it. */
export interface Packed {
  messages: Message[];
  media: WireMedium[];
}

/** pack takes images and recordings out of messages. */
export async function pack(messages: Message[], signal?: AbortSignal): Promise<Packed> {
  const media: WireMedium[] = [];
  const packed: Message[] = [];
  for (const [message, one] of messages.entries()) {
    if (!Array.isArray(one?.content)) {
      packed.push(one);
      continue;
    }
    const content: Part[] = [];
    for (const piece of one.content) {
      const made = await packPart(piece, signal);
      if (signal?.aborted) throw cancelled(signal);
      for (const { part, medium } of made ?? []) {
        media.push({ message, part: content.length, ...medium });
        content.push(part);
      }
      if (!made) content.push(piece);
    }
    packed.push({ ...one, content });
  }
  return { messages: packed, media };
}

type Contents = Omit<WireMedium, "message" | "part">;

interface PackedPart {
  part: Part;
  medium: Contents;
}

// packPart is null for parts that go as they are: text, and images in data URLs. A video with its sound becomes two.
async function packPart(part: Part, signal?: AbortSignal): Promise<PackedPart[] | null> {
  switch (part?.type) {
    case "image": {
      const { image, ...rest } = part;
      return [{ part: rest as Part, medium: await imageOf(image, signal) }];
    }
    case "video": {
      return videoOf(part, signal);
    }
    case "video_url": {
      const { video_url: { url } = {} as never, ...rest } = part;
      return videoOf({ ...rest, type: "video", video: url }, signal);
    }
    case "image_url": {
      const { image_url: { url, detail } = {} as never, ...rest } = part;
      if (typeof url !== "string" || url.startsWith("data:")) return null;
      return [
        {
          part: { ...rest, image_url: { url: "", ...(detail && { detail }) } },
          medium: await imageOf(url, signal),
        },
      ];
    }
    case "audio": {
      const { audio, ...rest } = part;
      return [{ part: rest as Part, medium: await audioOf(audio, part.split ?? false, signal) }];
    }
    case "input_audio": {
      const { input_audio: { data } = {} as never, ...rest } = part;
      if (typeof data !== "string") return null;
      return [
        {
          part: { ...rest, type: "audio" } as unknown as Part,
          medium: await audioBytes(fromBase64(data), part.split ?? false),
        },
      ];
    }
    default:
      return null;
  }
}

// Drawing a video again with each turn of a conversation would be a waste, too.
const drawn = new WeakMap<Blob, { as: string; contents: Contents }>();

async function videoOf(part: VideoPart, signal?: AbortSignal): Promise<PackedPart[]> {
  const { video, frames, fps, budget, sound, split } = part;
  const given = typeof video === "object" && video && "frames" in video;
  const file = given ? null : await videoFile(video as Blob | URL | string, signal);
  const as = JSON.stringify([frames, fps, budget]);
  const kept = file && drawn.get(file);
  let contents: Contents;
  if (kept?.as === as) contents = { ...kept.contents, data: (kept.contents.data as ArrayBuffer).slice(0) };
  else {
    contents = await drawVideo(file ?? (video as VideoFrames), part, signal);
    if (file) drawn.set(file, { as, contents: { ...contents, data: (contents.data as ArrayBuffer).slice(0) } });
  }
  const picture = { type: "video", ...(budget && { budget }), ...(frames && { frames }) } as unknown as Part;
  const packed: PackedPart[] = [{ part: picture, medium: contents }];
  if (!sound) return packed;
  if (!file) throw new GemwireError("bad-argument", "frames of a video have no sound; give it as a part of its own");
  packed.push({
    part: { type: "audio", ...(split && { split }) } as unknown as Part,
    medium: await audioOf(file, split ?? false, signal),
  });
  return packed;
}

async function videoFile(video: Blob | URL | string, signal?: AbortSignal): Promise<Blob> {
  if (video instanceof Blob) {
    checkBytes(video.size, "video", most.video);
    return video;
  }
  const { data } = await fileOf(video, "video", most.split, signal);
  return new Blob([data]);
}

async function imageOf(image: ImageInput, signal?: AbortSignal): Promise<Contents> {
  if (typeof ImageBitmap !== "undefined" && image instanceof ImageBitmap) {
    checkPixels(image.width, image.height);
    return { data: image };
  }
  if (typeof ImageData !== "undefined" && image instanceof ImageData) {
    const { width, height, data } = image;
    checkPixels(width, height);
    if (data.length !== 4 * width * height || data.BYTES_PER_ELEMENT !== 1)
      throw bad("an ImageData whose pixels are not of four bytes each");
    return { data: copyOf(data), format: "rgba", width, height };
  }
  const { data, name } = await fileOf(image as Blob | URL | string, "image", most.image, signal);
  return { data, ...(name && { name }) };
}

function checkPixels(width: number, height: number): void {
  if (!(width > 0 && height > 0)) throw bad("a picture without pixels: an ImageBitmap may be closed");
  if (width * height > mostPixels)
    throw bad(`a picture of ${width} × ${height} pixels`, "Shrink it to 25 megapixels, or give it as a file.");
}

async function audioOf(audio: AudioInput, split: boolean, signal?: AbortSignal): Promise<Contents> {
  if (typeof AudioBuffer !== "undefined" && audio instanceof AudioBuffer) {
    return samplesOf(
      Array.from({ length: audio.numberOfChannels }, (_, i) => audio.getChannelData(i)),
      audio.sampleRate,
      split,
    );
  }
  if (typeof audio === "object" && audio && "samples" in audio) {
    const { samples, sampleRate } = audio as SoundSamples;
    const channels = samples instanceof Float32Array ? [samples] : [...samples];
    if (!channels.every((channel) => channel instanceof Float32Array))
      throw new GemwireError("bad-argument", "samples are a Float32Array, or one for each channel");
    return samplesOf(channels, sampleRate, split);
  }
  const { data, name, blob } = await fileOf(
    audio as Blob | URL | string,
    "audio",
    split ? most.split : most.audio,
    signal,
  );
  return { ...(await audioBytes(data, split, blob)), ...(name && { name }) };
}

function samplesOf(channels: readonly Float32Array[], rate: number, split: boolean): Contents {
  const length = channels[0]?.length ?? 0;
  if (
    channels.length < 1 ||
    channels.length > 32 ||
    !Number.isInteger(rate) ||
    rate <= 0 ||
    channels.some((channel) => channel.length !== length)
  ) {
    throw bad(`a recording of ${channels.length} channels at ${rate} samples a second`);
  }
  if (length === 0) throw bad("a recording without samples");
  checkDuration(length / rate, split);
  const data = new Float32Array(length * channels.length);
  for (const [c, channel] of channels.entries()) {
    if (channels.length === 1) data.set(channel);
    else for (let i = 0; i < length; i++) data[i * channels.length + c] = channel[i]!;
  }
  return { data: data.buffer, format: "f32", rate, channels: channels.length };
}

function checkDuration(seconds: number, split: boolean): void {
  const limit = split ? longest.split : longest.audio;
  // Encoders fill their last frame up.
  if (seconds <= limit + 0.1) return;
  throw bad(
    `a recording of ${seconds.toFixed(1)} s, and ${limit} s are the limit`,
    split ? "Cut it." : "Cut it, or say split: true to have it heard in pieces.",
  );
}

// Decoding a recording again with each turn of a conversation would be a waste.
const decoded = new WeakMap<Blob, Contents>();

async function audioBytes(data: ArrayBuffer, split: boolean, blob?: Blob): Promise<Contents> {
  if (isWav(data)) return { data };
  const kept = blob && decoded.get(blob);
  if (kept) {
    checkDuration((kept.data as ArrayBuffer).byteLength / 4 / kept.channels! / kept.rate!, split);
    return { ...kept, data: (kept.data as ArrayBuffer).slice(0) };
  }
  if (typeof OfflineAudioContext === "undefined") {
    throw new GemwireError("unsupported", "a recording that is no WAV cannot be decoded in a worker", {
      advice: "Decode it on the page, and give an AudioBuffer or samples.",
    });
  }
  await checkBeforehand(data, split);
  const buffer = await new OfflineAudioContext(1, 1, modelRate).decodeAudioData(data).catch((error: Error) => {
    throw new GemwireError(
      "bad-media",
      "a recording that the browser cannot decode: it is damaged, or in a format that it does not know",
      { cause: error },
    );
  });
  const made = await audioOf(buffer, split);
  if (blob) decoded.set(blob, { ...made, data: (made.data as ArrayBuffer).slice(0) });
  return made;
}

// checkBeforehand asks the browser's player how long a large file is: hours of
// sound can be in a file of a few megabytes.
async function checkBeforehand(data: ArrayBuffer, split: boolean): Promise<void> {
  if (data.byteLength <= harmless || typeof Audio === "undefined") return;
  const url = URL.createObjectURL(new Blob([data]));
  try {
    const player = new Audio();
    const seconds = await new Promise<number>((resolve) => {
      player.onloadedmetadata = () => resolve(player.duration);
      player.onerror = () => resolve(NaN);
      setTimeout(() => resolve(NaN), 3000);
      player.preload = "metadata";
      player.src = url;
    });
    player.removeAttribute("src");
    if (Number.isFinite(seconds)) checkDuration(seconds, split);
  } finally {
    URL.revokeObjectURL(url);
  }
}

function isWav(data: ArrayBuffer): boolean {
  return /^RIFF....WAVE/s.test(String.fromCharCode(...new Uint8Array(data, 0, Math.min(12, data.byteLength))));
}

interface FileBytes {
  data: ArrayBuffer;
  name?: string;
  /** What the bytes were in, and can be known again by. */
  blob?: Blob;
}

const takes = {
  image: "a Blob, File, URL, ImageBitmap or ImageData",
  audio: "a Blob, File, URL, AudioBuffer or {samples, sampleRate}",
  video: "a Blob, File, URL or {frames, indices, fps}",
};

async function fileOf(
  from: Blob | URL | string,
  kind: "image" | "audio" | "video",
  limit: number,
  signal?: AbortSignal,
): Promise<FileBytes> {
  if (from instanceof Blob) {
    checkBytes(from.size, kind, limit);
    return { data: await bytesOf(from), blob: from, ...(from instanceof File && from.name && { name: from.name }) };
  }
  if (typeof from !== "string" && !(from instanceof URL)) {
    throw new GemwireError("bad-argument", `${kind} must be ${takes[kind]}`);
  }
  const url = absolute(from);
  if (url.startsWith("data:")) return { data: fromDataUrl(url) };
  return { data: await download(url, kind, limit, signal), name: url.slice(0, 200) };
}

// bytesOf reads a file, which may have gone meanwhile.
async function bytesOf(blob: Blob): Promise<ArrayBuffer> {
  try {
    return await blob.arrayBuffer();
  } catch (error) {
    throw new GemwireError("not-found", `a file that cannot be read any more: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function checkBytes(size: number, kind: string, limit: number): void {
  if (size === 0) throw bad(`${kind}: the file is empty`);
  if (size > limit)
    throw bad(
      `${kind}: a file of ${Math.ceil(size / 1e6)} MB, and ${Math.floor(limit / 1e6)} MB are the limit`,
      "Shrink or cut it.",
    );
}

async function download(url: string, kind: string, limit: number, signal?: AbortSignal): Promise<ArrayBuffer> {
  try {
    const response = await fetch(url, signal ? { signal } : {});
    if (!response.ok || !response.body)
      throw new GemwireError("not-found", `${kind}: ${url} answers ${response.status}`);
    const length = Number(response.headers.get("Content-Length") ?? NaN);
    if (length > limit) checkBytes(length, kind, limit);
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    for (const reader = response.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      size += value.length;
      if (size > limit) {
        reader.cancel().catch(() => {});
        checkBytes(size, kind, limit);
      }
    }
    checkBytes(size, kind, limit);
    return await new Blob(chunks).arrayBuffer();
  } catch (error) {
    if (signal?.aborted) throw cancelled(signal);
    if (error instanceof GemwireError) throw error;
    throw new GemwireError("network", `${kind}: ${url} could not be loaded: ${(error as Error).message}`, {
      cause: error,
      advice: "Check the address, and that its server lets other sites read it (CORS).",
    });
  }
}

// fromDataUrl reads a data URL by itself: fetching one may be forbidden by a content security policy.
function fromDataUrl(url: string): ArrayBuffer {
  const [, head = "", body = ""] = /^data:([^,]*),(.*)$/s.exec(url) ?? [];
  let text: string;
  try {
    text = decodeURIComponent(body);
  } catch (error) {
    throw new GemwireError("bad-argument", "a data URL with a % that begins no byte", { cause: error });
  }
  return /;base64$/i.test(head) ? fromBase64(text) : new TextEncoder().encode(text).buffer;
}

function fromBase64(text: string): ArrayBuffer {
  if (text.length > 1.4 * most.split) throw bad("a medium of more bytes than a message holds");
  try {
    return Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
  } catch (error) {
    throw new GemwireError("bad-argument", "a medium that is not base64", { cause: error });
  }
}

const copyOf = (data: ArrayLike<number> & ArrayBufferView): ArrayBuffer =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice().buffer;
