// Makes Node what the package expects around it, with a GPU that computes nothing:
// Dawn's null backend checks and records commands and forgets them. So it takes no
// GPU to tell what the processor does for a token. Its memory ends at 512 MB.
import { host } from "./host.mjs";

const resultBytes = 32; // a choice, as wgslkit/ops reads it: token, error, position, …

/** hostNull puts the null backend where the package looks for WebGPU. */
export function hostNull() {
  const gpu = host(["backend=null"]);
  const requestAdapter = gpu.requestAdapter.bind(gpu);
  gpu.requestAdapter = async (options) => asDiscrete(await requestAdapter(options));
  chooseOnTheHost();
}

// asDiscrete lets the adapter pass for a large GPU, so that the kernels of one are recorded.
const asDiscrete = (adapter) =>
  Object.defineProperty(adapter, "info", {
    value: {
      vendor: "nvidia",
      architecture: "",
      device: "null",
      description: "Dawn's null backend",
      subgroupMinSize: 32,
      subgroupMaxSize: 32,
    },
  });

// chooseOnTheHost makes choices up, as no kernel makes them: it hears at which position
// a text stands, and fills in what is read back from there on.
function chooseOnTheHost() {
  let position = 0;
  const { writeBuffer } = GPUQueue.prototype,
    { getMappedRange } = GPUBuffer.prototype;
  GPUQueue.prototype.writeBuffer = function (buffer, offset, data, first, size) {
    if (buffer.label === "state") {
      const [at, width] = new Uint32Array(data.slice(0, 8).buffer);
      position = at + width;
    }
    return writeBuffer.call(this, buffer, offset, data, first, size);
  };
  GPUBuffer.prototype.getMappedRange = function (...range) {
    const bytes = getMappedRange.apply(this, range);
    // Plain words.
    if (bytes.byteLength === resultBytes) new Uint32Array(bytes).set([600 + (position % 1400), 0, position++]);
    return bytes;
  };
}
