import { describe, expect, it } from "vitest";
import { titleFrom, type ChatMessage } from "./message";
import { newestLeaf, pathTo, questionOf, siblingLeaf, siblingsOf, treeOf, withMessage } from "./tree";

let clock = 0;
function message(id: string, parentId: string | null, role: ChatMessage["role"] = "user"): ChatMessage {
  return { id, conversationId: "c", parentId, role, content: id, status: "done", createdAt: ++clock };
}

// q1 ─ a1 ─ q2 ─ a2
//    └ a1b
// q1b ─ a3
const messages = [
  message("q1", null),
  message("a1", "q1", "assistant"),
  message("q2", "a1"),
  message("a2", "q2", "assistant"),
  message("a1b", "q1", "assistant"),
  message("q1b", null),
  message("a3", "q1b", "assistant"),
];
const ids = (path: ChatMessage[]) => path.map(({ id }) => id);

function must(id: string): ChatMessage {
  const found = messages.find((candidate) => candidate.id === id);
  if (!found) throw new Error(id);
  return found;
}

describe("the message tree", () => {
  const tree = treeOf(messages);

  it("walks from the root to a leaf", () => {
    expect(ids(pathTo(tree, "a2"))).toEqual(["q1", "a1", "q2", "a2"]);
    expect(ids(pathTo(tree, "a1b"))).toEqual(["q1", "a1b"]);
    expect(pathTo(tree, null)).toEqual([]);
    expect(pathTo(tree, "missing")).toEqual([]);
  });

  it("finds the newest end of a branch", () => {
    expect(newestLeaf(tree, null)).toBe("a3");
    expect(newestLeaf(tree, "a1")).toBe("a2");
    expect(newestLeaf(tree, "a2")).toBe("a2");
  });

  it("goes from branch to branch", () => {
    expect(siblingsOf(tree, must("a1b"))).toEqual({ ids: ["a1", "a1b"], index: 1 });
    expect(siblingLeaf(tree, must("a1b"), -1)).toBe("a2");
    expect(siblingLeaf(tree, must("a1b"), 1)).toBeNull();
    expect(siblingLeaf(tree, must("q1"), 1)).toBe("a3");
  });

  it("adds and replaces without touching the old tree", () => {
    const added = withMessage(tree, message("a2b", "q2", "assistant"));
    expect(added.children.get("q2")).toEqual(["a2", "a2b"]);
    expect(tree.children.get("q2")).toEqual(["a2"]);
    const replaced = withMessage(added, { ...must("a2"), content: "new" });
    expect(replaced.byId.get("a2")?.content).toBe("new");
    expect(replaced.children.get("q2")).toEqual(["a2", "a2b"]);
  });

  it("agrees with itself when built one by one", () => {
    const grown = messages.reduce(withMessage, treeOf([]));
    expect(grown).toEqual(tree);
  });

  it("finds the question of an answer", () => {
    expect(questionOf(tree, must("a2"))?.id).toBe("q2");
    expect(questionOf(tree, must("a1b"))?.id).toBe("q1");
  });

  it("ends where parents are missing or form a loop", () => {
    const orphan = treeOf([message("x", "gone")]);
    expect(ids(pathTo(orphan, "x"))).toEqual(["x"]);
    expect(newestLeaf(orphan, null)).toBe("x");
    const loop = treeOf([message("m", "n"), message("n", "m")]);
    expect(pathTo(loop, "m")).toHaveLength(2);
    expect(newestLeaf(loop, "m")).toBe("m");
  });
});

describe("titles", () => {
  it.each([
    ["What is  Go?\nmore", "What is Go?"],
    ["   ", "New chat"],
    ["a".repeat(70), `${"a".repeat(60)}…`],
    ["word ".repeat(20), `${"word ".repeat(11)}word…`],
  ])("%j", (question, title) => {
    expect(titleFrom(question)).toBe(title);
  });
});
