// The worker's script: in a Dedicated Worker it serves that worker's page; a
// page that works without one imports it and serves a channel of its own.
import type { Port } from "./protocol.js";
import { serve } from "./worker/serve.js";

export { serve };

declare const DedicatedWorkerGlobalScope: { new (): unknown } | undefined;
if (typeof DedicatedWorkerGlobalScope !== "undefined" && globalThis instanceof DedicatedWorkerGlobalScope) {
  serve(globalThis as unknown as Port);
}
