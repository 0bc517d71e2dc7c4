// Starts Chromium with WebGPU on SwiftShader, as any machine can run it, or the browser that GEMWIRE_BROWSER names:
// firefox or webkit, which `playwright-core install` brings. Those have WebGPU only where they have it by themselves.
import { statfsSync } from "node:fs";
import { chromium, firefox, webkit } from "playwright-core";

export const browserName = process.env.GEMWIRE_BROWSER || "chromium";
const browserType = { chromium, firefox, webkit }[browserName];
if (!browserType) throw new Error(`GEMWIRE_BROWSER is ${browserName}: say chromium, firefox or webkit`);

/** Why another browser skips a test, false in Chromium: the test needs WebGPU, a switch or the DevTools protocol. */
export const chromiumAlone = browserName !== "chromium" && `${browserName} lacks what Chromium has for this test`;

const switches = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
  "--enable-unsafe-swiftshader",
];

// On Linux Chromium gives out a GPU for WebGPU alone if it draws with Vulkan too; and
// here it has no window to draw to.
const realSwitches =
  process.platform === "linux"
    ? ["--ignore-gpu-blocklist", "--use-angle=vulkan", "--enable-features=Vulkan", "--disable-vulkan-surface"]
    : [];

// launch opens the browser. GEMWIRE_CHROMIUM names another binary,
// GEMWIRE_REAL_GPU=1 leaves the choice of the adapter to it, and
// GEMWIRE_CHROMIUM_SWITCHES has more switches, with spaces between.
export function launch(options) {
  return browserType.launch(settings(options));
}

// launchWith opens it with a profile in the folder, as people use it: what is
// stored lies on the disk, where launch keeps it in memory. It is a context.
export function launchWith(folder, options) {
  return browserType.launchPersistentContext(folder, settings(options));
}

function settings({ args = [] } = {}) {
  if (browserName === "firefox") return { headless: true, firefoxUserPrefs: { "dom.webgpu.enabled": true } };
  if (browserName === "webkit") return { headless: true };
  const real = process.env.GEMWIRE_REAL_GPU === "1";
  const chosen = real ? [...switches.filter((name) => !name.includes("swiftshader")), ...realSwitches] : switches;
  const more = process.env.GEMWIRE_CHROMIUM_SWITCHES?.split(" ").filter(Boolean) ?? [];
  return {
    executablePath: process.env.GEMWIRE_CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    ignoreDefaultArgs: sharedMemory() < 4e9 ? [] : ["--disable-dev-shm-usage"],
    args: [...chosen, ...more, ...args],
  };
}

// sharedMemory is the room that Chromium's processes have for the memory they share,
// where it takes it by itself. Playwright has it take a file on the disk instead, since
// containers may leave too little.
function sharedMemory() {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    return bavail * bsize;
  } catch {
    return 0;
  }
}
