import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig, type Plugin } from "vite";
import { VitePWA } from "vite-plugin-pwa";
import { budget } from "./build/budget.ts";
import { firstShell } from "./build/firstShell.ts";
import { firstTheme } from "./build/firstTheme.ts";

const fake = fileURLToPath(new URL("./test/fake/gemwire.ts", import.meta.url));

/** KaTeX names each of its fonts in three formats; every browser that has WebAssembly reads the first. */
const onlyWoff2: Plugin = {
  name: "only-woff2",
  enforce: "pre",
  transform: (code, id) =>
    /katex.*\.css$/.test(id) ? code.replace(/,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\([^)]*\)/g, "") : undefined,
};

// `--mode fake` builds the app over a scripted model, for tests of states that a
// healthy device never shows. It goes to a folder of its own and is never served.
export default defineConfig(({ mode }) => ({
  base: "./",
  resolve: mode === "fake" ? { alias: [{ find: /^gemwire(\/nano)?$/, replacement: fake }] } : {},
  optimizeDeps: { exclude: ["gemwire", "@sqlite.org/sqlite-wasm"] },
  worker: { format: "es" },
  build: {
    target: "es2023",
    outDir: mode === "fake" ? "dist-fake" : "dist",
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
  },
  plugins: [
    onlyWoff2,
    firstTheme(),
    firstShell(),
    mode === "production" && budget(),
    react(),
    tailwindcss(),
    VitePWA({
      registerType: "prompt",
      injectRegister: false,
      includeAssets: [],
      manifest: {
        name: "gemwire",
        short_name: "gemwire",
        description: "Chat with Gemma 4 on your own GPU. Nothing leaves the machine.",
        id: "./",
        start_url: "./",
        scope: "./",
        display: "standalone",
        background_color: "#f3f5f1",
        theme_color: "#f3f5f1",
        icons: [
          { src: "icons/icon-192.png", sizes: "192x192", type: "image/png" },
          { src: "icons/icon-512.png", sizes: "512x512", type: "image/png" },
          { src: "icons/maskable-512.png", sizes: "512x512", type: "image/png", purpose: "maskable" },
        ],
      },
      workbox: {
        // Everything the first offline answer needs: app, fonts, engine, built-in model.
        globPatterns: [
          "**/*.{js,mjs,css,html,svg,png,wasm,gguf}",
          "third-party-notices.txt",
          "**/*latin-wght-*.woff2",
          "**/*latin-ext-wght-normal*.woff2",
          "**/KaTeX_*.woff2",
        ],
        globIgnores: ["**/sqlite3-opfs-async-proxy*", "**/sqlite3-worker1*"],
        maximumFileSizeToCacheInBytes: 64 << 20,
        navigateFallback: "index.html",
        navigateFallbackDenylist: [/^\/models(\/|$)/, /^\/bench(\/|$)/, /^\/gemwire(\/|$)/, /^\/results(\/|$)/],
        cleanupOutdatedCaches: true,
        clientsClaim: true,
      },
    }),
  ],
}));
