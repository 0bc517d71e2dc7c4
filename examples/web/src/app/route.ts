import { useSyncExternalStore } from "react";

export type Page = "chat" | "models" | "finetune" | "selftest" | "settings" | "licenses";

export interface Route {
  page: Page;
  /** The chat that is open; null: a new one. */
  chatId: string | null;
}

/**
 * The address after the #: "/chat/ID", "/models", "/fine-tune", "/self-test", "/settings", "/licenses"; anything else
 * is a new chat.
 */
export function routeOf(hash: string): Route {
  const [, page, id] = hash.replace(/^#/, "").split("/");
  switch (page) {
    case "models":
      return { page: "models", chatId: null };
    case "fine-tune":
      return { page: "finetune", chatId: null };
    case "self-test":
      return { page: "selftest", chatId: null };
    case "settings":
      return { page: "settings", chatId: null };
    case "licenses":
      return { page: "licenses", chatId: null };
    case "chat":
      return { page: "chat", chatId: id ? decodeURIComponent(id) : null };
    default:
      return { page: "chat", chatId: null };
  }
}

export const chatHref = (id: string | null): string => (id === null ? "#/" : `#/chat/${encodeURIComponent(id)}`);

export const pageHref: Record<Page, string> = {
  chat: "#/",
  models: "#/models",
  finetune: "#/fine-tune",
  selftest: "#/self-test",
  settings: "#/settings",
  licenses: "#/licenses",
};

export const goTo = (href: string): void => {
  location.hash = href;
};

/** replaceWith changes the address without a step back in the browser's history. */
export function replaceWith(href: string): void {
  history.replaceState(null, "", href);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

const subscribe = (changed: () => void) => {
  addEventListener("hashchange", changed);
  return () => {
    removeEventListener("hashchange", changed);
  };
};

export function useRoute(): Route {
  return routeOf(useSyncExternalStore(subscribe, () => location.hash));
}
