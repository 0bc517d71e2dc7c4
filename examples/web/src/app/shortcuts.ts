import { useEffect } from "react";
import { useChat } from "../chat/chatStore";
import { chatHref, goTo } from "./route";

export const searchFieldId = "chat-search";
export const composerId = "composer";

export const shortcuts: readonly { keys: string; does: string }[] = [
  { keys: "Esc", does: "Stop the answer" },
  { keys: "Alt + N", does: "New chat" },
  { keys: "Alt + K", does: "Search the chats" },
  { keys: "Alt + C", does: "Go to the message field" },
  { keys: "Enter / Shift + Enter", does: "Send / new line" },
  { keys: "Arrow up in an empty message", does: "Edit the last question" },
];

const focus = (id: string) => document.getElementById(id)?.focus();

/** Keys that work on every page. Alt does not clash with the browsers' own, which use Ctrl and Cmd. */
export function useShortcuts(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented && !document.querySelector("dialog[open]")) {
        useChat.getState().stop();
        return;
      }
      if (!event.altKey || event.ctrlKey || event.metaKey) return;
      const action = { KeyN: () => { goTo(chatHref(null)); setTimeout(() => focus(composerId)); }, KeyK: () => focus(searchFieldId), KeyC: () => focus(composerId) }[event.code];
      if (!action) return;
      event.preventDefault();
      action();
    };
    addEventListener("keydown", onKey);
    return () => { removeEventListener("keydown", onKey); };
  }, []);
}
