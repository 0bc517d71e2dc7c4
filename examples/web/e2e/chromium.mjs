// Chromium with WebGPU on SwiftShader, as any machine can run it.
import { chromium } from "playwright-core";

const switches = [
  "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
  "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-unsafe-swiftshader",
];

/** launch opens the browser. GEMWIRE_CHROMIUM names another binary. */
export const launch = () => chromium.launch({ executablePath: process.env.GEMWIRE_CHROMIUM ?? "/usr/bin/chromium", headless: true, args: switches });
