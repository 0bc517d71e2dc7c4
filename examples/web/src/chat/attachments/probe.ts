// What the browser itself says of a file, without decoding more of it than that takes.

/** How long a file that breaks off may keep the browser thinking, in milliseconds. */
const patience = 10_000;

/** sizeOf is a picture's size in pixels, or null where the browser cannot show it. */
export function sizeOf(file: Blob): Promise<{ width: number; height: number } | null> {
  return withUrl(file, (url, done) => {
    const image = new Image();
    image.onload = () => done(image.naturalWidth > 0 ? { width: image.naturalWidth, height: image.naturalHeight } : null);
    image.onerror = () => done(null);
    image.src = url;
  });
}

/** durationOf is a recording's length in seconds, or null where the browser cannot play it. */
export function durationOf(file: Blob): Promise<number | null> {
  return withUrl<number>(file, (url, done) => {
    const player = new Audio();
    player.onloadedmetadata = () => {
      if (Number.isFinite(player.duration)) {
        done(player.duration);
        return;
      }
      // What a recorder has written knows its length only at its end.
      player.ondurationchange = () => { if (Number.isFinite(player.duration)) done(player.duration); };
      player.currentTime = 1e9;
    };
    player.onerror = () => done(null);
    player.preload = "metadata";
    player.src = url;
  });
}

async function withUrl<T>(file: Blob, ask: (url: string, done: (value: T | null) => void) => void): Promise<T | null> {
  const url = URL.createObjectURL(file);
  try {
    return await new Promise((resolve) => {
      setTimeout(() => resolve(null), patience);
      ask(url, resolve);
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}
