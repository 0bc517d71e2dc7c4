// Reads a file of OPFS from beginning to end and hands each piece to the GPU, in
// one of several ways. See handover.mjs.
const MAP_WRITE = 2,
  COPY_SRC = 4,
  COPY_DST = 8,
  STORAGE = 0x80;

// Each way makes an object: take(n) gives n bytes of memory to read into, give(n, at)
// hands them over to the target at that byte; the outcome of either may be a promise.
const ways = {
  // Nothing but the read.
  plain({ piece }) {
    const bytes = new Uint8Array(piece);
    return { take: (n) => bytes.subarray(0, n), give() {} };
  },

  // The queue copies what was read, then what was given two pieces ago is waited for.
  write({ device: { queue }, target, piece }) {
    const bytes = new Uint8Array(piece);
    let before;
    return {
      take: (n) => bytes.subarray(0, n),
      give(n, at) {
        queue.writeBuffer(target, at, bytes, 0, n);
        queue.submit([]);
        const due = before;
        before = queue.onSubmittedWorkDone();
        return due;
      },
    };
  },

  // Buffers that are mapped again and again, each copied to the target.
  mapped({ device, target, piece, depth }) {
    const ring = Array.from({ length: depth }, () => {
      const buffer = device.createBuffer({ size: piece, usage: MAP_WRITE | COPY_SRC });
      return { buffer, ready: buffer.mapAsync(2) };
    });
    let turn = 0;
    return {
      async take(n) {
        await ring[turn].ready;
        return new Uint8Array(ring[turn].buffer.getMappedRange(0, n));
      },
      give(n, at) {
        const slot = ring[turn];
        slot.buffer.unmap();
        const encoder = device.createCommandEncoder();
        encoder.copyBufferToBuffer(slot.buffer, 0, target, at, n);
        device.queue.submit([encoder.finish()]);
        slot.ready = slot.buffer.mapAsync(2);
        turn = (turn + 1) % depth;
      },
      end() {
        for (const { buffer } of ring) buffer.destroy();
      },
    };
  },

  // A buffer for each piece, which begins its life mapped and is copied once.
  fresh({ device, target }) {
    let buffer, before;
    return {
      take(n) {
        buffer = device.createBuffer({ size: n, usage: COPY_SRC, mappedAtCreation: true });
        return new Uint8Array(buffer.getMappedRange());
      },
      give(n, at) {
        buffer.unmap();
        const encoder = device.createCommandEncoder();
        encoder.copyBufferToBuffer(buffer, 0, target, at, n);
        device.queue.submit([encoder.finish()]);
        buffer.destroy();
        const due = before;
        before = device.queue.onSubmittedWorkDone();
        return due;
      },
    };
  },

  // The piece's own place on the GPU begins its life mapped: no copy but into it.
  born({ device }) {
    let buffer, before;
    return {
      take(n) {
        buffer = device.createBuffer({ size: n, usage: STORAGE | COPY_SRC | COPY_DST, mappedAtCreation: true });
        return new Uint8Array(buffer.getMappedRange());
      },
      give() {
        buffer.unmap();
        buffer.destroy();
        const due = before;
        before = device.queue.onSubmittedWorkDone();
        return due;
      },
    };
  },
};

let device, target;
const room = 128 << 20;

async function run({ name, way, piece, depth }) {
  if (!device) {
    const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
    device = await adapter.requestDevice();
    device.adapterName =
      adapter.info.description || adapter.info.device || adapter.info.vendor + " " + adapter.info.architecture;
    device.addEventListener("uncapturederror", ({ error }) => postMessage({ failed: error.message }));
    target = device.createBuffer({ size: room, usage: STORAGE | COPY_SRC | COPY_DST });
  }
  const entry = await (await navigator.storage.getDirectory()).getFileHandle(name);
  const handle = await entry.createSyncAccessHandle({ mode: "read-only" });
  const size = handle.getSize() & ~3;
  const made = ways[way]({ device, target, piece, depth });
  let reading = 0,
    giving = 0;
  const begun = performance.now();
  for (let at = 0; at < size;) {
    const n = Math.min(piece, size - at);
    const bytes = await made.take(n);
    const before = performance.now();
    if (handle.read(bytes, { at }) !== n) throw new Error("the file is shorter than it was");
    const read = performance.now();
    const due = made.give(n, (at % (room - piece)) & ~3);
    const given = performance.now();
    await due;
    reading += read - before;
    giving += given - read;
    at += n;
  }
  await device.queue.onSubmittedWorkDone();
  const ms = performance.now() - begun;
  made.end?.();
  handle.close();
  return { adapter: device.adapterName, size, ms, reading, giving };
}

addEventListener("message", async ({ data }) => {
  try {
    postMessage({ done: await run(data) });
  } catch (error) {
    postMessage({ failed: error.message });
  }
});
postMessage({ ready: true });
