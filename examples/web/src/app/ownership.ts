// One tab at a time owns the database and the GPU. The owner holds a Web Lock; a tab without it says so and may
// ask for it over a BroadcastChannel. The owner then stops, closes what it holds and lets the lock go. An owner
// that does not answer (a frozen tab) has the lock stolen from it.

const lockName = "gemwire-owner";
const channelName = "gemwire-owner";
const patience = 6000;

export type Ownership = "asking" | "waiting" | "taking" | "owner";

type Note = { type: "request"; from: string } | { type: "taken"; by: string };

interface Options {
  /** Called with every change. The owner has the lock while this says "owner". */
  onChange: (state: Ownership) => void;
  /** Closes what only an owner may hold; the lock goes when it has settled. */
  onRelease: () => Promise<void>;
}

export interface Owner {
  takeOver(): void;
  stop(): void;
}

export function claimOwnership({ onChange, onRelease }: Options): Owner {
  const self = crypto.randomUUID();
  const channel = new BroadcastChannel(channelName);
  let letGo: (() => void) | null = null;
  let queue: AbortController | null = null;
  /** Runs while a take-over has not been answered. */
  let impatience: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;

  const hold = () =>
    new Promise<void>((resolve) => {
      clearTimeout(impatience);
      letGo = resolve;
      channel.postMessage({ type: "taken", by: self } satisfies Note);
      onChange("owner");
    });

  const release = async () => {
    const free = letGo;
    letGo = null;
    if (!free) return;
    onChange("waiting");
    try {
      await onRelease();
    } finally {
      free();
    }
  };

  /** Waits in line: the lock comes when the owner's tab is closed. */
  const wait = () => {
    if (stopped || queue) return;
    const controller = new AbortController();
    queue = controller;
    navigator.locks
      .request(lockName, { signal: controller.signal }, async () => {
        queue = null;
        await hold();
        // Whoever asked comes first; then this tab stands in line again.
        setTimeout(wait, 400);
      })
      .catch(() => {
        if (queue === controller) queue = null;
        else void lost();
      });
  };

  const lost = async () => {
    if (!letGo) return;
    await release();
    wait();
  };

  const leaveLine = () => {
    queue?.abort();
    queue = null;
  };

  const steal = () => {
    if (stopped) return;
    leaveLine();
    navigator.locks.request(lockName, { steal: true }, hold).catch(() => void lost());
  };

  channel.addEventListener("message", (event: MessageEvent<Note>) => {
    if (event.data.type === "request") {
      clearTimeout(impatience);
      if (letGo) void release().then(() => setTimeout(wait, 400));
      else leaveLine();
    } else if (!letGo) {
      onChange("waiting");
      wait();
    }
  });

  const start = async () => {
    onChange("asking");
    const free = await navigator.locks
      .request(lockName, { ifAvailable: true }, async (lock) => {
        if (lock) await hold();
        return lock !== null;
      })
      .catch(() => lost().then(() => true));
    if (free) return;
    onChange("waiting");
    wait();
  };
  void start();

  return {
    takeOver: () => {
      onChange("taking");
      channel.postMessage({ type: "request", from: self } satisfies Note);
      wait();
      clearTimeout(impatience);
      impatience = setTimeout(steal, patience);
    },
    stop: () => {
      stopped = true;
      clearTimeout(impatience);
      leaveLine();
      void release().finally(() => {
        channel.close();
      });
    },
  };
}
