import type { Call, HistoryClient, Reply } from "./api";

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

/** startHistory starts the worker of the database and returns its methods; stop ends it. */
export function startHistory(): { client: HistoryClient; stop: () => void } {
  const worker = new Worker(new URL("./history.worker.ts", import.meta.url), {
    type: "module",
    name: "gemwire history",
  });
  const waiting = new Map<number, Waiting>();
  let last = 0;

  const failAll = (error: Error) => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  worker.addEventListener("message", (event: MessageEvent<Reply>) => {
    const reply = event.data;
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.ok) call?.resolve(reply.value);
    else call?.reject(new Error(reply.message));
  });
  worker.addEventListener("error", (event) => failAll(new Error(event.message || "The history worker did not start.")));

  const send = (method: Call["method"], args: unknown[]) =>
    new Promise<unknown>((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      worker.postMessage({ id: last, method, args } satisfies Call);
    });
  const client = new Proxy(
    {},
    {
      get:
        (_target, method) =>
        (...args: unknown[]) =>
          send(method as Call["method"], args),
    },
  ) as HistoryClient;

  return {
    client,
    stop: () => {
      worker.terminate();
      failAll(new Error("The history was closed."));
    },
  };
}
