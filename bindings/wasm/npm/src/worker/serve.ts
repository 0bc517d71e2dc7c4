import { fromFailure, toFailure } from "../error.js";
import type {
  Notice,
  Op,
  OpenParams,
  Operations,
  PageRequest,
  PlanResult,
  Port,
  TrainResult,
  WireSource,
  WorkerReply,
} from "../protocol.js";
import { deleteAdapter, keepAdapter, listAdapters, renameAdapter } from "./adapter_files.js";
import { Engine } from "./engine.js";
import { collectFiles, writeFiles } from "./go_files.js";
import { unpack } from "./media.js";
import { list } from "./records.js";
import { estimate } from "./room.js";
import { deleteRun, listRuns, planRun, resumeRun, saveCheckpoint, saveRun } from "./runs.js";
import { openModel } from "./sources.js";
import * as store from "./store.js";
import { adapterOf, keepVerdict, selfTest, verdictFor, verdictsKept } from "./verdict.js";

interface Context<O extends Op> {
  signal: AbortSignal;
  tell(event: Operations[O]["event"]): void;
  engine(): Promise<Engine>;
  /** What stands beside the params. */
  request: PageRequest;
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
  loadAdapter: async (params, { engine, signal, request }) => {
    const go = await engine();
    const { sources } = await openModel(request.source!, signal);
    return (await go.call("loadAdapter", params, { sources, signal })) as Operations["loadAdapter"]["result"];
  },
  adapterList: () => listAdapters(),
  adapterImport: async ({ name }, { engine, signal, request }) => {
    const go = await engine();
    return keepAdapter(name, async (write) => {
      const { sources } = await openModel(request.source!, signal);
      await writeFiles(go, "convertAdapter", { format: "gguf", name }, { sources, signal }, (_, bytes) => write(bytes));
    });
  },
  adapterExport: async ({ name, format }, { engine, signal }) => {
    const go = await engine();
    const { sources } = await openModel({ parts: [{ kind: "adapter", name }] }, signal);
    return { files: await collectFiles(go, "convertAdapter", { format, name }, { sources, signal }) };
  },
  adapterRename: ({ from, to }) => renameAdapter(from, to),
  adapterDelete: async ({ name }) => (await deleteAdapter(name), {}),
  runSave: async (params, { request }) => (await saveRun(params, request.data!), {}),
  runPlanned: async (params) => (await planRun(params), {}),
  runResume: async (params, { engine, signal }) => resumeRun(await engine(), params, signal),
  runSteps: async (params, { engine, signal, tell }) => runSteps(await engine(), params, signal, tell),
  runCheckpoint: async (params, { engine, signal }) => saveCheckpoint(await engine(), params, signal),
  runExport: async (params, { engine, signal }) => ({
    files: await collectFiles(await engine(), "runAdapter", params, { signal }),
  }),
  runKeep: async ({ name, ...params }, { engine, signal }) => {
    const go = await engine();
    return keepAdapter(name, (write) =>
      writeFiles(go, "runAdapter", { ...params, format: "gguf", name }, { signal }, (_, bytes) => write(bytes)),
    );
  },
  runList: () => listRuns(),
  runDelete: async ({ name }) => (await deleteRun(name), {}),
};

// runSteps makes all steps that are left, with checkpoints where they are kept.
async function runSteps(
  go: Engine,
  { run, name, every }: Operations["runSteps"]["params"],
  signal: AbortSignal,
  tell: Context<"runSteps">["tell"],
): Promise<TrainResult> {
  for (;;) {
    const result = (await go.call(
      "train",
      { run, ...(name && { steps: every }) },
      { signal, tell: tell as (event: unknown) => void },
    )) as TrainResult;
    if (name) tell({ type: "checkpoint", ...(await saveCheckpoint(go, { run, name }, signal)) });
    if (result.state !== "steps") return result;
  }
}

/** serve answers the requests of one page. */
export function serve(port: Port): void {
  const running = new Map<number, AbortController>();
  let started: Promise<Engine> | null = null;
  const post = (reply: WorkerReply) => port.postMessage(reply);
  const engine = () =>
    (started ??= Engine.start({
      fatal: (failure) => post({ id: 0, fatal: failure }),
      lost: (failure) => post({ id: 0, lost: failure }),
      notice: (notice) => void heed(notice),
    }).catch((error: unknown) => {
      started = null;
      throw error;
    }));

  async function heed(notice: Notice): Promise<void> {
    if (notice.type === "verdict") return keepVerdict((await engine()).kernels, notice);
    post({ id: 0, notice });
  }

  async function run(request: PageRequest, signal: AbortSignal): Promise<unknown> {
    const { id, op, params, source, media, data } = request;
    const tell = (event: unknown) => post({ id, event });
    const handler = handlers[op] as Handler<Op> | undefined;
    if (handler) return handler(params, { signal, tell, engine, request });
    if (media || data) {
      const { refs, binaries } = unpack(media ?? []);
      const given = await Promise.all((data ?? []).map(async (blob) => new Uint8Array(await blob.arrayBuffer())));
      return (await engine()).call(
        op,
        { ...params, ...(media && { media: refs }) },
        { signal, tell, binaries: [...given, ...binaries] },
      );
    }
    if (!source) return (await engine()).call(op, params, { signal, tell });
    try {
      return await open(op, params as OpenParams, source, signal, tell);
    } catch (error) {
      throw op === "open" ? await withSuggestion(error, params as OpenParams, source, signal) : error;
    }
  }

  // open runs what works on a model's file. Go closes the source.
  async function open(
    op: Op,
    params: OpenParams,
    source: WireSource,
    signal: AbortSignal,
    tell: (event: unknown) => void = () => {},
  ): Promise<unknown> {
    const go = await engine();
    const verdict = await verdictFor(go, params.powerPreference);
    const { sources, parts } = await openModel(source, signal);
    try {
      return await go.call(
        op,
        { ...params, parts, ...(source.assistant && { assistant: true }), ...(verdict && { verdict }) },
        { signal, tell, sources },
      );
    } finally {
      await verdictsKept();
    }
  }

  // withSuggestion adds a smaller plan to what may have failed for want of memory.
  async function withSuggestion(
    error: unknown,
    params: OpenParams,
    source: WireSource,
    signal: AbortSignal,
  ): Promise<unknown> {
    const failure = toFailure(error);
    if (failure.code !== "out-of-memory" && failure.code !== "device-lost") return error;
    try {
      const { suggestion } = (await open("plan", { ...params, smaller: true }, source, signal)) as PlanResult;
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
      post({
        id,
        error:
          controller.signal.aborted && failure.code === "internal"
            ? toFailure(fromFailure({ code: "cancelled", message: "cancelled" }))
            : failure,
      });
    } finally {
      running.delete(id);
    }
  }

  port.addEventListener("message", (event) => void answer(event.data as PageRequest));
  port.start?.();
}
