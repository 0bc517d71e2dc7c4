// Makes Node what the npm package expects around it: WebGPU by Dawn, files
// fetched by their address, and a worker's messages without copies.
import { fstatSync, openSync, readSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { create, globals } from "webgpu";

/**
 * host puts WebGPU where the package looks for it. flags are Dawn's:
 * "backend=vulkan", "adapter=NVIDIA".
 */
export function host(flags) {
  Object.assign(globalThis, globals);
  const gpu = create(flags);
  const navigator = globalThis.navigator ?? {};
  Object.defineProperty(navigator, "gpu", { value: gpu, configurable: true });
  Object.defineProperty(globalThis, "navigator", { value: navigator, configurable: true });
  const { fetch } = globalThis;
  globalThis.fetch = async (address, options) => {
    const url = new URL(address instanceof Request ? address.url : address);
    if (url.protocol !== "file:") return fetch(address, options);
    return new Response(await readFile(url), { headers: { "Content-Type": "application/wasm" } });
  };
  return gpu;
}

/**
 * inProcess serves the package in this thread, by a pair of ports that hand
 * messages over as they are: a Blob of a file on disk cannot be copied.
 */
export async function inProcess(dist) {
  const { serve } = await import(new URL("worker.js", dist));
  const [page, worker] = [new Port(), new Port()];
  page.other = worker;
  worker.other = page;
  serve(worker);
  // The package takes a worker of the caller's own.
  globalThis.Worker ??= Port;
  return page;
}

class Port extends EventTarget {
  other = null;
  postMessage(data) { setImmediate(() => this.other.dispatchEvent(Object.assign(new Event("message"), { data }))); }
  terminate() {}
}

/**
 * DiskFile is a Blob over a file on disk, read where it is sliced. Node's own
 * (openAsBlob) ends at 2 GiB. It stays open: models look rows up in their file.
 */
export class DiskFile extends Blob {
  #file;
  #size;

  constructor(path) {
    super();
    this.#file = openSync(path);
    this.#size = fstatSync(this.#file).size;
  }

  get size() { return this.#size; }

  slice(start, end) { return { arrayBuffer: async () => this.#read(start, Math.min(end, this.#size) - start) }; }

  #read(at, length) {
    const bytes = new Uint8Array(length);
    for (let got = 0; got < length;) {
      const n = readSync(this.#file, bytes, got, length - got, at + got);
      if (n === 0) throw new Error(`the file ends at byte ${at + got}`);
      got += n;
    }
    return bytes.buffer;
  }
}
