import { useEffect } from "react";
import { composerId } from "../chat/focusComposer";
import { useChat } from "../chat/chatStore";
import { isComposing } from "../ui/keys";
import { chatHref, goTo } from "./route";

export const searchFieldId = "chat-search";

export type Command = "stop" | "new" | "search" | "write";

interface Chord {
  /** What the keys type together. */
  key: string;
  modifiers: readonly ("Alt" | "Meta" | "Shift")[];
  /** As the settings show it. */
  label: string;
}

interface Shortcut {
  command: Command;
  does: string;
  chord: Chord;
  /** On Macs, where Option types. */
  mac: Chord;
}

const escape: Chord = { key: "Escape", modifiers: [], label: "Esc" };

/** Alt does not clash with the browsers' own, which use Ctrl and Cmd; Cmd with these letters is free on Macs. */
const known: readonly Shortcut[] = [
  { command: "stop", does: "Stop the answer", chord: escape, mac: escape },
  {
    command: "new",
    does: "New chat",
    chord: { key: "n", modifiers: ["Alt"], label: "Alt + N" },
    mac: { key: "o", modifiers: ["Meta", "Shift"], label: "⌘ + Shift + O" },
  },
  {
    command: "search",
    does: "Search the chats",
    chord: { key: "k", modifiers: ["Alt"], label: "Alt + K" },
    mac: { key: "k", modifiers: ["Meta"], label: "⌘ + K" },
  },
  {
    command: "write",
    does: "Go to the message field",
    chord: { key: "c", modifiers: ["Alt"], label: "Alt + C" },
    mac: { key: "j", modifiers: ["Meta"], label: "⌘ + J" },
  },
];

const modifiers = ["Alt", "Meta", "Shift", "Control", "AltGraph"] as const;

type Key = Pick<KeyboardEvent, "key" | "isComposing" | "keyCode" | "getModifierState">;

/** commandOf goes by what is typed, not by where the key lies, so that no letter of any keyboard is taken away. */
export function commandOf(event: Key, mac: boolean): Command | null {
  if (isComposing(event)) return null;
  const pressed = modifiers.filter((name) => event.getModifierState(name)).join();
  const found = known.find((shortcut) => {
    const { key, modifiers } = mac ? shortcut.mac : shortcut.chord;
    return event.key.toLowerCase() === key.toLowerCase() && pressed === modifiers.join();
  });
  return found?.command ?? null;
}

export const onMac = (): boolean => /Macintosh|Mac OS X|iPhone|iPad/.test(navigator.userAgent);

/** shortcutsOf lists all keys for the settings. */
export function shortcutsOf(mac: boolean, enterSends: boolean): { keys: string; does: string }[] {
  return [
    ...known.map((shortcut) => ({ keys: (mac ? shortcut.mac : shortcut.chord).label, does: shortcut.does })),
    { keys: enterSends ? "Enter" : "Shift + Enter", does: "Send the message" },
    { keys: enterSends ? "Shift + Enter" : "Enter", does: "New line" },
    { keys: "Arrow up in an empty message", does: "Edit the last question" },
  ];
}

const focus = (id: string) => document.getElementById(id)?.focus();

/** What is open above the page closes by Escape itself. */
const overlays = "dialog[open], :popover-open";

/** Keys that work on every page. */
export function useShortcuts(): void {
  useEffect(() => {
    const mac = onMac();
    const onKey = (event: KeyboardEvent) => {
      const command = commandOf(event, mac);
      if (command === null || event.defaultPrevented) return;
      if (command === "stop") {
        if (!document.querySelector(overlays)) useChat.getState().stop();
        return;
      }
      event.preventDefault();
      if (command === "search") focus(searchFieldId);
      if (command === "new") goTo(chatHref(null));
      if (command !== "search") setTimeout(() => focus(composerId));
    };
    addEventListener("keydown", onKey);
    return () => {
      removeEventListener("keydown", onKey);
    };
  }, []);
}
