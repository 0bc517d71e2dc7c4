// Chromium with WebGPU on SwiftShader, as any machine can run it, or the browser that GEMWIRE_BROWSER names: firefox or
// webkit, which `playwright-core install` brings.
import { chromium, firefox, webkit } from "playwright-core";

export const browserName = process.env.GEMWIRE_BROWSER || "chromium";
const browserType = { chromium, firefox, webkit }[browserName];
if (!browserType) throw new Error(`GEMWIRE_BROWSER is ${browserName}: say chromium, firefox or webkit`);

const common = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const swiftshader = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-unsafe-swiftshader"];

const options = ({ adapter = true, args = [] }) =>
  browserName === "chromium"
    ? {
        executablePath: process.env.GEMWIRE_CHROMIUM ?? "/usr/bin/chromium",
        headless: true,
        args: [...common, ...(adapter ? swiftshader : ["--disable-gpu"]), ...args],
      }
    : { headless: true };

/** launch opens the browser, without any graphics adapter if asked. GEMWIRE_CHROMIUM names another binary. */
export const launch = (asked = {}) => browserType.launch(options(asked));

/** launchWithProfile opens the browser with its files in a folder, as a reader's has them, and is its context. */
export const launchWithProfile = (folder, { viewport, ...asked } = {}) =>
  browserType.launchPersistentContext(folder, { ...options(asked), viewport });

/**
 * visit opens a browser profile of its own. WebKit stores files only in one that lies on the disk, and only Chromium
 * knows these permissions.
 */
export const visit = (browser, settings) =>
  browserName === "webkit"
    ? webkit.launchPersistentContext("", { ...options({}), ...settings })
    : browser.newContext({
        ...settings,
        ...(browserName === "chromium" && { permissions: ["clipboard-read", "clipboard-write"] }),
      });
