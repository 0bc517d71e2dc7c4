import { fromFailure, toFailure } from "../error.js";
import type { Op, OpenParams, Operations, PageRequest, PlanResult, Port, WireSource, WorkerReply } from "../protocol.js";
import { Engine } from "./engine.js";
import { unpack } from "./media.js";
import { list } from "./records.js";
import { estimate } from "./room.js";
import { openModel } from "./sources.js";
import * as store from "./store.js";
import { selfTest, adapterOf, verdictFor } from "./verdict.js";

interface Context<O extends Op> {
  signal: AbortSignal;
  tell(event: Operations[O]["event"]): void;
  engine(): Promise<Engine>;
}

type Handler<O extends Op> = (params: Operations[O]["params"], context: Context<O>) => Promise<Operations[O]["result"]>;

// What ends here; the rest is Go's.
const handlers: { [O in Op]?: Handler<O> } = {
  storeList: () => list(),
  storeDownload: (params, { signal, tell }) => store.download(params, signal, tell),
  storeImport: (params, { signal, tell }) => store.importBlobs(params, signal, tell),
  storeDelete: async ({ name }) => (await store.remove(name), {}),
  storeRename: ({ from, to }) => store.rename(from, to),
  storeEstimate: () => estimate(),
  adapter: () => adapterOf(),
  selfTest: async (params, { engine, signal, tell }) => selfTest(await engine(), params, signal, tell),
};

/** serve answers the requests of one page. */
export function serve(port: Port): void {
  const running = new Map<number, AbortController>();
  let started: Promise<Engine> | null = null;
  const post = (reply: WorkerReply) => port.postMessage(reply);
  const engine = () => started ??= Engine.start({
    fatal: (failure) => post({ id: 0, fatal: failure }),
    lost: (failure) => post({ id: 0, lost: failure }),
  }).catch((error: unknown) => {
    started = null;
    throw error;
  });

  async function run({ id, op, params, source, media }: PageRequest, signal: AbortSignal): Promise<unknown> {
    const tell = (event: unknown) => post({ id, event });
    const handler = handlers[op] as Handler<Op> | undefined;
    if (handler) return handler(params, { signal, tell, engine });
    if (media) {
      const { refs, binaries } = unpack(media);
      return (await engine()).call(op, { ...params, media: refs }, { signal, tell, binaries });
    }
    if (!source) return (await engine()).call(op, params, { signal, tell });
    try {
      return await open(op, params as OpenParams, source, signal, tell);
    } catch (error) {
      throw op === "open" ? await withSuggestion(error, params as OpenParams, source, signal) : error;
    }
  }

  // open runs what works on a model's file. Go closes the source.
  async function open(op: Op, params: OpenParams, source: WireSource, signal: AbortSignal, tell: (event: unknown) => void = () => {}): Promise<unknown> {
    const [go, avoid] = await Promise.all([engine(), verdictFor(params.powerPreference)]);
    const { sources, parts } = await openModel(source, signal);
    return go.call(op, { ...params, parts, ...(avoid && { avoid }) }, { signal, tell, sources });
  }

  // withSuggestion adds a smaller plan to what may have failed for want of memory.
  async function withSuggestion(error: unknown, params: OpenParams, source: WireSource, signal: AbortSignal): Promise<unknown> {
    const failure = toFailure(error);
    if (failure.code !== "out-of-memory" && failure.code !== "device-lost") return error;
    try {
      const { suggestion } = await open("plan", { ...params, smaller: true }, source, signal) as PlanResult;
      return suggestion ? fromFailure({ ...failure, suggestion }) : error;
    } catch {
      return error; // the first error is what matters
    }
  }

  async function answer(request: PageRequest): Promise<void> {
    const { id } = request;
    if (request.op === "cancel") {
      running.get((request.params as Operations["cancel"]["params"]).target)?.abort();
      return post({ id, result: {} });
    }
    const controller = new AbortController();
    running.set(id, controller);
    try {
      post({ id, result: await run(request, controller.signal) });
    } catch (error) {
      const failure = toFailure(error);
      post({ id, error: controller.signal.aborted && failure.code === "internal" ? toFailure(fromFailure({ code: "cancelled", message: "cancelled" })) : failure });
    } finally {
      running.delete(id);
    }
  }

  port.addEventListener("message", (event) => void answer(event.data as PageRequest));
  port.start?.();
}
