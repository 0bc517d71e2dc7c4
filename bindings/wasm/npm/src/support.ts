import type { Support } from "./types.js";

/** Says what this browser can do, without loading anything. */
export async function support(): Promise<Support> {
  const opfs = typeof globalThis.navigator?.storage?.getDirectory === "function";
  const gpu = globalThis.navigator?.gpu;
  if (!gpu) {
    const reason =
      globalThis.isSecureContext === false
        ? "WebGPU is only there for pages that are served by HTTPS or from localhost."
        : "This browser has no WebGPU. Use a current Chrome, Edge, Safari or Firefox.";
    return { webgpu: false, reason, opfs };
  }
  const adapter =
    (await gpu.requestAdapter({ powerPreference: "high-performance" }).catch(() => null)) ??
    (await gpu.requestAdapter().catch(() => null));
  if (!adapter) {
    return {
      webgpu: false,
      reason:
        "The browser offers no graphics adapter: switch hardware acceleration on in its settings, or update the " +
        "graphics driver.",
      opfs,
    };
  }
  const { vendor, architecture, device, description, isFallbackAdapter } = adapter.info;
  return {
    webgpu: true,
    adapter: { vendor, architecture, device, description, fallback: isFallbackAdapter ?? false },
    opfs,
  };
}
