import { GemwireError } from "./error.js";

/** checkBrowser refuses to go on where there is neither a page nor a worker: in Node, say. */
export function checkBrowser(): void {
  if (typeof document !== "undefined" || "WorkerGlobalScope" in globalThis) return;
  const where = "process" in globalThis ? "Node has neither WebGPU nor its storage" : "this is none";
  throw new GemwireError("unsupported", `gemwire runs in browsers only; ${where}`, {
    advice: "Load models in a page. In a terminal or on a server, use the gemwire command.",
  });
}
