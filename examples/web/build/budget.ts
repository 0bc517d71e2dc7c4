import type { Plugin } from "vite";

// Bytes of JavaScript, before compression, that a visitor waits for: the page's script and what it imports at once.
const firstLoad = 400_000;

/** budget ends a build whose first load has grown beyond its bytes, or that ships the engine's worker twice. */
export function budget(): Plugin {
  return {
    name: "budget",
    apply: "build",
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((item) => item.type === "chunk");
      const entry = chunks.find(({ isEntry, facadeModuleId }) => isEntry && facadeModuleId?.endsWith("index.html"));
      if (!entry) return;
      const first = new Set([entry]);
      for (const { imports } of first)
        for (const chunk of chunks) if (imports.includes(chunk.fileName)) first.add(chunk);
      const bytes = [...first].reduce((sum, { code }) => sum + Buffer.byteLength(code), 0);
      if (bytes > firstLoad)
        this.error(
          `The first load has ${bytes} bytes of JavaScript, and may have ${firstLoad}: import what it does not ` +
            "need lazily.",
        );
      const workers = Object.keys(bundle).filter((name) => /^assets\/worker-[\w-]+\.js$/.test(name));
      if (workers.length > 1)
        this.error(`The engine's worker is shipped ${workers.length} times: ${workers.join(", ")}.`);
    },
  };
}
