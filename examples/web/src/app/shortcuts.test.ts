import { describe, expect, it } from "vitest";
import { isSending } from "../ui/keys";
import { commandOf, shortcutsOf } from "./shortcuts";

const press = (key: string, modifiers: string[] = [], more: { isComposing?: boolean; keyCode?: number } = {}) => ({
  key,
  isComposing: false,
  keyCode: 0,
  shiftKey: modifiers.includes("Shift"),
  getModifierState: (name: string) => modifiers.includes(name),
  ...more,
});

describe("shortcuts", () => {
  it.each([
    ["n", ["Alt"], "new"],
    ["N", ["Alt"], "new"], // with Caps Lock
    ["k", ["Alt"], "search"],
    ["c", ["Alt"], "write"],
    ["Escape", [], "stop"],
  ])("%s with %j is %s", (key, modifiers, command) => {
    expect(commandOf(press(key, modifiers), false)).toBe(command);
  });

  it.each([
    ["k", ["Meta"], "search"],
    ["O", ["Meta", "Shift"], "new"],
    ["j", ["Meta"], "write"],
    ["Escape", [], "stop"],
  ])("on a Mac, %s with %j is %s", (key, modifiers, command) => {
    expect(commandOf(press(key, modifiers), true)).toBe(command);
  });

  it.each([
    ["Option + N, which begins ñ", true, press("Dead", ["Alt"])],
    ["Option + N of a Polish keyboard", true, press("ń", ["Alt"])],
    ["Option + C", true, press("ç", ["Alt"])],
    ["Option that types nothing else", true, press("n", ["Alt"])],
    ["AltGr on Windows", false, press("n", ["Control", "Alt"])],
    ["AltGr on Linux", false, press("ń", ["AltGraph"])],
    ["AltGr together with Alt", false, press("n", ["Alt", "AltGraph"])],
    ["Alt + Shift", false, press("N", ["Alt", "Shift"])],
    ["a letter", false, press("n")],
    ["Ctrl + K", false, press("k", ["Control"])],
    ["Escape that ends a composition", false, press("Escape", [], { isComposing: true })],
    ["Escape of Safari's composition", true, press("Escape", [], { keyCode: 229 })],
  ])("leave %s alone", (_, mac, event) => {
    expect(commandOf(event, mac)).toBeNull();
  });

  it("are listed as the keyboard and the settings have them", () => {
    expect(shortcutsOf(false, true).map(({ keys }) => keys)).toContain("Alt + N");
    expect(shortcutsOf(true, true).map(({ keys }) => keys)).toContain("⌘ + K");
    expect(shortcutsOf(false, true)).toContainEqual({ keys: "Enter", does: "Send the message" });
    expect(shortcutsOf(false, false)).toContainEqual({ keys: "Enter", does: "New line" });
  });
});

describe("Enter", () => {
  it.each([
    [true, press("Enter"), true],
    [true, press("Enter", ["Shift"]), false],
    [false, press("Enter"), false],
    [false, press("Enter", ["Shift"]), true],
    [true, press("Enter", [], { isComposing: true }), false],
    [true, press("Enter", [], { keyCode: 229 }), false],
    [false, press("Enter", ["Shift"], { keyCode: 229 }), false],
    [true, press("a"), false],
  ])("with “Enter sends” %s: %o → %s", (enterSends, event, sends) => {
    expect(isSending(event, enterSends)).toBe(sends);
  });
});
