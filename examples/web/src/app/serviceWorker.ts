import { registerSW } from "virtual:pwa-register";
import { useToasts } from "./toasts";

/** Registers the service worker, which keeps the app, the engine and the built-in model for use without a network. */
export function registerServiceWorker(): void {
  const update = registerSW({
    onNeedRefresh: () =>
      useToasts
        .getState()
        .show("A new version of gemwire is ready.", { label: "Reload", run: () => void update(true) }),
    onOfflineReady: () => useToasts.getState().show("gemwire now works offline."),
  });
}
