// Chromium with WebGPU on SwiftShader, as any machine can run it.
import { chromium } from "playwright-core";

const common = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const swiftshader = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-unsafe-swiftshader"];

/** launch opens the browser, without any graphics adapter if asked. GEMWIRE_CHROMIUM names another binary. */
export const launch = ({ adapter = true, args = [] } = {}) =>
  chromium.launch({
    executablePath: process.env.GEMWIRE_CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: [...common, ...(adapter ? swiftshader : ["--disable-gpu"]), ...args],
  });
