// The package's worker, with a clock on what it reads from OPFS, and a plain read of the
// same file to compare with. See opfs.mjs.
const clock = { reads: 0, readBytes: 0, readMs: 0 };

const plainRead = FileSystemSyncAccessHandle.prototype.read;
FileSystemSyncAccessHandle.prototype.read = function (into, options) {
  const begun = performance.now();
  const bytes = plainRead.call(this, into, options);
  clock.readMs += performance.now() - begun;
  clock.readBytes += bytes;
  clock.reads++;
  return bytes;
};

// ?idle leaves out what the GPU would do with its bytes: kernels are empty and do not
// run, and weights all go to one place, so that none of its memory is touched for the
// first time. On a software rasterizer, which clears with the processor all that it
// makes, either takes longer than all the rest: one device stays for all loads, and one
// buffer stands for each of 1 MB and more.
if (new URL(location.href).searchParams.has("idle")) {
  const sinks = new WeakMap(),
    large = 1 << 20;
  const { requestDevice } = GPUAdapter.prototype,
    { createBuffer, createShaderModule } = GPUDevice.prototype;
  const { copyBufferToBuffer } = GPUCommandEncoder.prototype,
    { writeBuffer } = GPUQueue.prototype,
    { destroy } = GPUBuffer.prototype;
  let device, shared;
  GPUAdapter.prototype.requestDevice = async function (descriptor) {
    return (device ??= await requestDevice.call(this, descriptor));
  };
  GPUDevice.prototype.destroy = () => {};
  GPUBuffer.prototype.destroy = function () {
    if (this.size < large || this.usage & GPUBufferUsage.MAP_WRITE) destroy.call(this);
  };
  GPUComputePassEncoder.prototype.dispatchWorkgroups = () => {};
  GPUDevice.prototype.createShaderModule = function (descriptor) {
    return createShaderModule.call(this, { ...descriptor, code: "@compute @workgroup_size(1) fn main() {}" });
  };
  GPUDevice.prototype.createBuffer = function (descriptor) {
    const stands =
      descriptor.size >= large && !(descriptor.usage & (GPUBufferUsage.MAP_WRITE | GPUBufferUsage.MAP_READ));
    if (stands && shared?.size >= descriptor.size) return shared;
    const buffer = createBuffer.call(this, descriptor);
    if (stands) shared = buffer;
    if (!sinks.has(this))
      sinks.set(this, createBuffer.call(this, { label: "sink", size: 8 << 20, usage: GPUBufferUsage.COPY_DST }));
    sinks.set(buffer, sinks.get(this));
    return buffer;
  };
  GPUCommandEncoder.prototype.copyBufferToBuffer = function (from, at, to, offset, size) {
    if (from.usage & GPUBufferUsage.MAP_WRITE) copyBufferToBuffer.call(this, from, at, sinks.get(to), 0, size);
    else copyBufferToBuffer.call(this, from, at, to, offset, size);
  };
  GPUQueue.prototype.writeBuffer = function (to, offset, data, at, size = data.length) {
    if (size > 4096) writeBuffer.call(this, sinks.get(to), 0, data, at, size);
    else writeBuffer.call(this, to, offset, data, at, size);
  };
}

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
