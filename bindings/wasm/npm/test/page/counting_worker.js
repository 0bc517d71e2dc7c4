// The package's worker, which counts what is asked of JavaScript and of the GPU:
// calls of Go's syscall/js, commands, bytes, and what is made. A message {counts}
// is answered with the sums so far.
const counts = {
  calls: 0,
  submits: 0,
  dispatches: 0,
  writes: 0,
  writtenBytes: 0,
  reads: 0,
  readBytes: 0,
  copiedBytes: 0,
  buffers: 0,
  bufferBytes: 0,
  pipelines: 0,
  bindGroups: 0,
};

// also runs count, with a call's arguments, result and object, after each call of a method.
function also(prototype, method, count) {
  const original = prototype[method];
  prototype[method] = function (...args) {
    const result = original.apply(this, args);
    count(args, result, this);
    return result;
  };
}

also(GPUQueue.prototype, "submit", ([buffers]) => {
  if (buffers.length) counts.submits++;
});
also(GPUQueue.prototype, "writeBuffer", ([, , data, , size]) => {
  counts.writes++;
  counts.writtenBytes += size ?? data.byteLength;
});
also(GPUComputePassEncoder.prototype, "dispatchWorkgroups", () => {
  counts.dispatches++;
});
// What is copied from memory that was written here is a write.
also(GPUCommandEncoder.prototype, "copyBufferToBuffer", ([from, , , , size]) => {
  if (!(from.usage & GPUBufferUsage.MAP_WRITE)) return void (counts.copiedBytes += size);
  counts.writes++;
  counts.writtenBytes += size;
});
also(GPUBuffer.prototype, "mapAsync", ([mode]) => {
  if (mode === GPUMapMode.READ) counts.reads++;
});
also(GPUBuffer.prototype, "getMappedRange", (_, range, buffer) => {
  if (buffer.usage & GPUBufferUsage.MAP_READ) counts.readBytes += range.byteLength;
});
also(GPUDevice.prototype, "createBuffer", ([{ size }]) => {
  counts.buffers++;
  counts.bufferBytes += size;
});
also(GPUDevice.prototype, "createComputePipelineAsync", () => {
  counts.pipelines++;
});
also(GPUDevice.prototype, "createBindGroup", () => {
  counts.bindGroups++;
});

for (const method of ["instantiate", "instantiateStreaming"]) {
  const original = WebAssembly[method];
  WebAssembly[method] = (source, imports) =>
    original.call(WebAssembly, source, imports?.gojs ? { ...imports, gojs: counted(imports.gojs) } : imports);
}

// Values are let go of when Go's collector finds them, in whichever phase that is.
const ofCollector = "syscall/js.finalizeRef";

function counted(imports) {
  const wrapped = ([name, call]) => [
    name,
    name.startsWith("syscall/js.") && name !== ofCollector
      ? (sp) => {
          counts.calls++;
          return call(sp);
        }
      : call,
  ];
  return Object.fromEntries(Object.entries(imports).map(wrapped));
}

addEventListener("message", (event) => {
  if (!event.data?.counts) return;
  event.stopImmediatePropagation();
  postMessage({ counts: { ...counts } });
});
await import("/dist/worker.js");
postMessage({ ready: true });
