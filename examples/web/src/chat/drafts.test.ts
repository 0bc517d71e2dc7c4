import { beforeEach, describe, expect, it, vi } from "vitest";
import { withStorage } from "../../test/storage";
import { useToasts } from "../app/toasts";
import { draftKey, emptyDraft, keepDraftsOf, loadDrafts, saveDrafts, useDraftStore } from "./drafts";
import { newConversation, type Attachment } from "./message";
import { treeOf } from "./tree";

const picture: Attachment = { id: "a", kind: "image", name: "a.png", type: "image/png", size: 3 };
const write = (key: string, text: string) => useDraftStore.getState().change(key, () => ({ text }));
const texts = () => [...useDraftStore.getState().drafts].map(([key, { text }]) => [key, text]);

describe("drafts", () => {
  beforeEach(() => {
    withStorage();
    useDraftStore.setState({ drafts: new Map() });
    useToasts.setState({ toasts: [] });
  });

  it("are each chat's own, over a reload", () => {
    write("new", "hello");
    write("c1", "and then?");
    write("new", "hello there");
    saveDrafts();
    useDraftStore.setState({ drafts: new Map() });
    loadDrafts();
    expect(texts()).toEqual([
      ["c1", "and then?"],
      ["new", "hello there"],
    ]);
  });

  it("are written down soon after the last letter", () => {
    vi.useFakeTimers();
    write("c1", "soon");
    vi.runAllTimers();
    vi.useRealTimers();
    loadDrafts();
    expect(texts()).toEqual([["c1", "soon"]]);
  });

  it("say what of them a reload has taken", () => {
    useDraftStore.getState().change("c1", () => ({ attachments: [picture] }));
    saveDrafts();
    loadDrafts();
    expect(useDraftStore.getState().drafts.get("c1")).toEqual({ text: "", attachments: [], lost: 1 });
  });

  it("go when they are empty, when they are sent, and with their chat", () => {
    write("c1", "a");
    write("c1", "");
    write("c2", "b");
    useDraftStore.getState().drop("c2");
    write("c3", "c");
    write("c4", "d");
    write("new", "e");
    keepDraftsOf(["c4"]);
    expect(texts()).toEqual([
      ["c4", "d"],
      ["new", "e"],
    ]);
  });

  it("are no more than fifty", () => {
    for (let n = 0; n < 60; n++) write(`c${n}`, "x");
    expect(useDraftStore.getState().drafts.size).toBe(50);
    expect(useDraftStore.getState().drafts.has("c59")).toBe(true);
  });

  it.each(["{", "3", "null", '{"c1":3,"c2":null,"c3":{"text":4}}', "[]"])("saved as %s are none", (saved) => {
    localStorage.setItem("gemwire.drafts", saved);
    loadDrafts();
    expect(useDraftStore.getState().drafts.size).toBe(0);
  });

  it("that cannot be written down say so once", () => {
    localStorage.setItem = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
    write("c1", "long");
    saveDrafts();
    saveDrafts();
    const { toasts } = useToasts.getState();
    expect(toasts.map(({ look }) => look)).toEqual(["warning"]);
  });

  it("of chats that have not begun are one", () => {
    expect(draftKey(newConversation(), treeOf([]))).toBe("new");
    const conversation = newConversation();
    const message = { id: "m", conversationId: conversation.id, parentId: null, role: "user" as const };
    const tree = treeOf([{ ...message, content: "x", status: "done", createdAt: 1 }]);
    expect(draftKey(conversation, tree)).toBe(conversation.id);
    expect(emptyDraft.text).toBe("");
  });
});
