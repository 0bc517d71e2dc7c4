import { registerSW } from "virtual:pwa-register";
import { useToasts } from "./toasts";

let registered = false;

/**
 * Registers the service worker, once, which keeps the app, the engine and the built-in model for use without a network.
 */
export function registerServiceWorker(): void {
  if (registered) return;
  registered = true;
  const update = registerSW({
    onNeedRefresh: () =>
      useToasts
        .getState()
        .show("A new version of gemwire is ready.", { label: "Reload", run: () => void update(true) }),
    onOfflineReady: () => useToasts.getState().show("gemwire now works offline."),
  });
}
