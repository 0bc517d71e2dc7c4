// The package's worker, which counts the GPU's buffers that are left, and in which
// something breaks while weights are uploaded. A message {break} says what, at the
// first piece from then on; {left} is answered with the number of buffers.
let broken = "",
  pieces = 0,
  left = 0;

const { createBuffer } = GPUDevice.prototype;
GPUDevice.prototype.createBuffer = function (descriptor) {
  left++;
  const buffer = createBuffer.call(this, descriptor);
  buffer.device = this;
  buffer.destroy = () => {
    left--;
    buffer.destroy = () => {};
    GPUBuffer.prototype.destroy.call(buffer);
  };
  return buffer;
};

const { getMappedRange } = GPUBuffer.prototype;
GPUBuffer.prototype.getMappedRange = function (...range) {
  if (this.usage & GPUBufferUsage.MAP_WRITE && ++pieces === 1 && broken === "device") this.device.destroy();
  return getMappedRange.apply(this, range);
};

const { read } = FileSystemSyncAccessHandle.prototype;
FileSystemSyncAccessHandle.prototype.read = function (...args) {
  return pieces >= 1 && broken === "file" ? 0 : read.apply(this, args);
};

addEventListener("message", (event) => {
  if ("break" in event.data) [broken, pieces] = [event.data.break, 0];
  else if (event.data.left) postMessage({ left });
  else return;
  event.stopImmediatePropagation();
});
await import("/dist/worker.js");
postMessage({ ready: true });
