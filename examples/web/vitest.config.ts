import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    alias: [
      {
        find: /^gemwire(\/nano)?$/,
        replacement: fileURLToPath(new URL("./test/fake/gemwire.ts", import.meta.url)),
      },
    ],
  },
  test: { include: ["src/**/*.test.{ts,tsx}"], environment: "node" },
});
