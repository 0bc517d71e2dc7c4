// A GPU that has room for only so many bytes (?most=N):
// beyond them buffers end as on a real one, in an error that a scope catches.
let left = Number(new URL(location.href).searchParams.get("most"));
const { destroy } = GPUBuffer.prototype;
const { createBuffer, pushErrorScope, popErrorScope } = GPUDevice.prototype;

GPUDevice.prototype.createBuffer = function (descriptor) {
  left -= descriptor.size;
  if (left < 0) this.isShort = true;
  return createBuffer.call(this, descriptor);
};

GPUBuffer.prototype.destroy = function () {
  left += this.size;
  destroy.call(this);
};

GPUDevice.prototype.pushErrorScope = function (filter) {
  (this.filters ??= []).push(filter);
  return pushErrorScope.call(this, filter);
};

GPUDevice.prototype.popErrorScope = function () {
  const popped = popErrorScope.call(this);
  if (this.filters.pop() !== "out-of-memory" || !this.isShort) return popped;
  this.isShort = false;
  return popped.then(() => new GPUOutOfMemoryError("not enough memory left"));
};
