// Measures what waiting for a GPU costs in Node: how often Dawn is asked whether it is
// done, and how long V8's collections stop the thread meanwhile.
//
//   node asking.mjs [--pause MS] [--backend NAME] [--loops N] [--rounds N]
//
// --pause 0 asks at full speed, as Dawn's binding does by itself. The kernel only loops.
import { PerformanceObserver } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { host } from "./host.mjs";

const text = (value) => ({ type: "string", default: value });
const { values: asked } = parseArgs({
  options: { pause: text("0.05"), backend: text("vulkan"), loops: text("40000000"), rounds: text("6") },
});

const gpu = host([`backend=${asked.backend}`], { pause: Number(asked.pause) });
let questions = 0,
  collections = [];
const { setImmediate } = globalThis;
globalThis.setImmediate = (...ask) => {
  questions++;
  return setImmediate(...ask);
};
new PerformanceObserver((list) => {
  collections.push(...list.getEntries().map(({ duration }) => duration));
}).observe({ entryTypes: ["gc"] });

const adapter = await gpu.requestAdapter();
if (!adapter) {
  console.error(
    "asking: Dawn finds no GPU; Chromium's rasterizer will do: " +
      "VK_DRIVER_FILES=/usr/lib/chromium/vk_swiftshader_icd.json",
  );
  process.exit(1);
}
const device = await adapter.requestDevice();
const code = `
@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
@compute @workgroup_size(1) fn main() {
  var x = 1u;
  for (var i = 0u; i < ${asked.loops}u; i++) { x = x * 1664525u + numbers[i & 7u]; }
  numbers[0] = x;
}`;
const pipeline = await device.createComputePipelineAsync({
  layout: "auto",
  compute: { module: device.createShaderModule({ code }) },
});
const buffer = device.createBuffer({ size: 32, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
const staging = device.createBuffer({ size: 32, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
const group = device.createBindGroup({
  layout: pipeline.getBindGroupLayout(0),
  entries: [{ binding: 0, resource: { buffer } }],
});

for (let round = 0; round < Number(asked.rounds); round++) {
  const encoder = device.createCommandEncoder(),
    pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  pass.dispatchWorkgroups(1);
  pass.end();
  encoder.copyBufferToBuffer(buffer, 0, staging, 0, 32);
  device.queue.submit([encoder.finish()]);
  [questions, collections] = [0, []];
  const begun = performance.now();
  await staging.mapAsync(GPUMapMode.READ);
  staging.unmap();
  const ms = performance.now() - begun;
  await new Promise((done) => setTimeout(done, 10)); // until the observer has heard
  const sum = collections.reduce((total, one) => total + one, 0);
  console.log(
    `waited ${ms.toFixed(0)} ms: ${questions} questions, ${collections.length} collections of ${sum.toFixed(0)} ` +
      `ms in all, ${Math.max(0, ...collections).toFixed(1)} ms the longest`,
  );
}
process.exit(0);
