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

const options = ({ adapter = true, args = [] }) => ({
  executablePath: process.env.GEMWIRE_CHROMIUM ?? "/usr/bin/chromium",
  headless: true,
  args: [...common, ...(adapter ? swiftshader : ["--disable-gpu"]), ...args],
});

/** launch opens the browser, without any graphics adapter if asked. GEMWIRE_CHROMIUM names another binary. */
export const launch = (asked = {}) => chromium.launch(options(asked));

/** launchWithProfile opens the browser with its files in a folder, as a reader's has them, and is its context. */
export const launchWithProfile = (folder, { viewport, ...asked } = {}) =>
  chromium.launchPersistentContext(folder, { ...options(asked), viewport });
