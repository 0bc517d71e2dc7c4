// Makes Node what the npm package expects around it: WebGPU by Dawn, files fetched
// by their address, a private file system, and a worker's messages.
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { create, globals } from "webgpu";

/**
 * host puts WebGPU where the package looks for it. flags are Dawn's:
 * "backend=vulkan", "adapter=NVIDIA". pause is the least time between two questions
 * whether the GPU is done, in ms.
 */
export function host(flags, { pause = 0.05 } = {}) {
  Object.assign(globalThis, globals);
  if (pause > 0) paceAsking(pause);
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
 * paceAsking bounds how often Dawn is asked whether the GPU is done. Its binding asks
 * by setImmediate as long as anything is awaited, and makes a function each time that
 * only a major collection frees. At full speed they fill V8's young generation several
 * times a second, and copying them stops the thread for tens of milliseconds. In a
 * browser nobody asks: the GPU's process tells.
 */
function paceAsking(pause) {
  const { setImmediate } = globalThis;
  const never = new Int32Array(new SharedArrayBuffer(4));
  let asked = 0;
  globalThis.setImmediate = (...ask) => {
    const early = asked + pause - performance.now();
    if (early > 0) Atomics.wait(never, 0, 0, early);
    asked = performance.now();
    return setImmediate(...ask);
  };
}

/**
 * inProcess serves the package in this thread, by a pair of ports that hand
 * messages over as they are.
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

const soon = globalThis.setImmediate; // what host leaves alone

class Port extends EventTarget {
  other = null;
  postMessage(data) {
    soon(() => this.other.dispatchEvent(Object.assign(new Event("message"), { data })));
  }
  terminate() {}
}

/**
 * store puts a file on disk where the package keeps the models that it has downloaded,
 * under its own name, and returns that: weights are then read as in a browser, straight
 * into the memory that the GPU takes them from.
 */
export function store(path) {
  const name = basename(path),
    size = statSync(path).size;
  const record = { size: 0, text: async () => JSON.stringify({ name, size, modified: 0 }) };
  const models = new Map([
    [name, new DiskHandle(path, size)],
    [`${name}.json`, { getFile: async () => record }],
  ]);
  navigator.storage = { getDirectory: async () => folder(new Map()) };
  const folder = (files) => ({
    getDirectoryHandle: async (inner) => folder(inner === "models" ? models : new Map()),
    async getFileHandle(file) {
      if (!files.has(file)) throw new DOMException(`there is no ${file}`, "NotFoundError");
      return files.get(file);
    },
  });
  return name;
}

/** DiskHandle is a FileSystemFileHandle that can be read. */
class DiskHandle {
  #path;
  #size;

  constructor(path, size) {
    this.#path = path;
    this.#size = size;
  }

  async getFile() {
    return { size: this.#size };
  }

  async createSyncAccessHandle() {
    const file = openSync(this.#path);
    return {
      getSize: () => this.#size,
      read: (into, { at }) => readSync(file, into, 0, into.length, at),
      close: () => closeSync(file),
    };
  }
}
