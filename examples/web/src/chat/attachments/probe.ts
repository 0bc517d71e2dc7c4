// What the browser itself says of a file, without decoding more of it than that takes.

/** How long a file that breaks off may keep the browser thinking, in milliseconds. */
const patience = 10_000;

/** sizeOf is a picture's size in pixels, or null where the browser cannot show it. */
export function sizeOf(file: Blob): Promise<{ width: number; height: number } | null> {
  return withUrl(file, (url, done) => {
    const image = new Image();
    image.onload = () =>
      done(image.naturalWidth > 0 ? { width: image.naturalWidth, height: image.naturalHeight } : null);
    image.onerror = () => done(null);
    image.src = url;
  });
}

/** durationOf is a recording's length in seconds, or null where the browser cannot play it. */
export function durationOf(file: Blob): Promise<number | null> {
  return withUrl(file, (url, done) => void loaded(new Audio(), url).then(done, () => done(null)));
}

/**
 * loaded has a player read the head of a file, and is its length in seconds; it fails where the browser cannot play it.
 */
export function loaded(player: HTMLMediaElement, url: string): Promise<number> {
  return new Promise((resolve, reject) => {
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
    player.onerror = () => reject(new Error(player.error?.message ?? "The browser cannot play this."));
    player.preload = "metadata";
    player.src = url;
  });
}

/** withUrl asks something of a file's address, which is null where that takes longer than the milliseconds given. */
export async function withUrl<T>(
  file: Blob,
  ask: (url: string, done: (value: T | null) => void) => void,
  milliseconds = patience,
): Promise<T | null> {
  const url = URL.createObjectURL(file);
  try {
    return await new Promise((resolve) => {
      setTimeout(() => resolve(null), milliseconds);
      ask(url, resolve);
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}
