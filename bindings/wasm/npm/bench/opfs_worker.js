// The package's worker, with a clock on what it reads from OPFS and writes to the
// GPU, and a plain read of the same file to compare with. See opfs.mjs.
const clock = { reads: 0, readBytes: 0, readMs: 0, writes: 0, writeBytes: 0, writeMs: 0 };

function timed(prototype, method, name, bytesOf) {
  const original = prototype[method];
  prototype[method] = function (...args) {
    const begun = performance.now();
    const result = original.apply(this, args);
    clock[`${name}Ms`] += performance.now() - begun;
    clock[`${name}s`]++;
    clock[`${name}Bytes`] += bytesOf(result, args);
    return result;
  };
  return original;
}

const plainRead = timed(FileSystemSyncAccessHandle.prototype, "read", "read", (read) => read);
timed(GPUQueue.prototype, "writeBuffer", "write", (_, [, , data, , size]) => size ?? data.byteLength);

// largest finds the model's file: whatever else is there is smaller.
async function largest(folder) {
  let best = null;
  for await (const entry of folder.values()) {
    const found = entry.kind === "directory" ? await largest(entry) : { entry, size: (await entry.getFile()).size };
    if (found && found.size > (best?.size ?? -1)) best = found;
  }
  return best;
}

// read takes the whole file in order, in pieces as large as the load's.
async function read(piece) {
  const { entry, size } = await largest(await navigator.storage.getDirectory());
  const handle = await entry.createSyncAccessHandle({ mode: "read-only" });
  const buffer = new Uint8Array(piece);
  const begun = performance.now();
  for (let at = 0; at < size;) at += plainRead.call(handle, buffer, { at });
  const ms = performance.now() - begun;
  handle.close();
  return { bytes: size, ms };
}

addEventListener("message", async ({ data }) => {
  const { plain, count } = data ?? {};
  if (plain) postMessage({ plain: await read(plain) });
  if (count) postMessage({ count: { ...clock } });
});
await import("/dist/worker.js");
postMessage({ ready: true });
