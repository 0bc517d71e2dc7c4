// Starts Chromium with WebGPU.
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

const common = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--enable-unsafe-webgpu",
];
const onGPU = ["--enable-features=Vulkan", "--ignore-gpu-blocklist"];
const onCPU = ["--use-webgpu-adapter=swiftshader", "--enable-unsafe-swiftshader"];

// launch starts it through playwright-core, which the tests of the package install.
export function launch({ swiftshader = false, headed = false } = {}) {
  const from = createRequire(join(root, "bindings/wasm/browsertest/package.json"));
  let chromium;
  try {
    ({ chromium } = from("playwright-core"));
  } catch {
    throw new Error("playwright-core is missing; run: npm ci --prefix bindings/wasm/browsertest");
  }
  return chromium.launch({
    executablePath: process.env.GEMWIRE_CHROMIUM ?? "/usr/bin/chromium",
    headless: !headed,
    args: [...common, ...(swiftshader ? onCPU : onGPU)],
  });
}
