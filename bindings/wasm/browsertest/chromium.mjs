// Starts Chromium with WebGPU on SwiftShader, as any machine can run it.
import { chromium } from "playwright-core";

const switches = [
  "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
  "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-unsafe-swiftshader",
];

// launch opens the browser. GEMWIRE_CHROMIUM names another binary, and
// GEMWIRE_REAL_GPU=1 leaves the choice of the adapter to it.
export function launch(options) { return chromium.launch(settings(options)); }

// launchWith opens it with a profile in the folder, as people use it: what is
// stored lies on the disk, where launch keeps it in memory. It is a context.
export function launchWith(folder, options) { return chromium.launchPersistentContext(folder, settings(options)); }

function settings({ args = [] } = {}) {
  const real = process.env.GEMWIRE_REAL_GPU === "1";
  const chosen = real ? switches.filter((name) => !name.includes("swiftshader")) : switches;
  return { executablePath: process.env.GEMWIRE_CHROMIUM ?? "/usr/bin/chromium", headless: true, args: [...chosen, ...args] };
}
