// Images and recordings as Go takes them: bytes, and what they are.
import { GemwireError } from "../error.js";
import type { MediaRef, WireMedium } from "../protocol.js";

export function unpack(media: readonly WireMedium[]): { refs: MediaRef[]; binaries: Uint8Array[] } {
  const refs: MediaRef[] = [];
  const binaries: Uint8Array[] = [];
  for (const { data, ...ref } of media) {
    if (data instanceof ArrayBuffer) {
      refs.push(ref);
      binaries.push(new Uint8Array(data));
      continue;
    }
    const { width, height } = data;
    refs.push({ ...ref, format: "rgba", width, height });
    binaries.push(pixelsOf(data));
  }
  return { refs, binaries };
}

// pixelsOf draws a bitmap, of which nobody else has this copy.
function pixelsOf(bitmap: ImageBitmap): Uint8Array {
  const { width, height } = bitmap;
  try {
    const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    if (!context) throw new Error("the browser lends no canvas");
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  } catch (error) {
    throw new GemwireError("bad-media", `the pixels of an ImageBitmap cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    bitmap.close();
  }
}
