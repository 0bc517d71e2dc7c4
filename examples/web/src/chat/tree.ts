import type { ChatMessage } from "./message";

/** The messages of one conversation, by id and by parent, in the order in which they were made. */
export interface Tree {
  byId: ReadonlyMap<string, ChatMessage>;
  children: ReadonlyMap<string | null, readonly string[]>;
}

export function treeOf(messages: readonly ChatMessage[]): Tree {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const children = new Map<string | null, string[]>();
  const ordered = [...messages].sort((a, b) => a.createdAt - b.createdAt);
  for (const message of ordered) {
    const parent = message.parentId !== null && byId.has(message.parentId) ? message.parentId : null;
    const siblings = children.get(parent);
    if (siblings) siblings.push(message.id);
    else children.set(parent, [message.id]);
  }
  return { byId, children };
}

/** withMessage returns the tree with a message added, or replaced where its id is known. */
export function withMessage(tree: Tree, message: ChatMessage): Tree {
  const byId = new Map(tree.byId).set(message.id, message);
  if (tree.byId.has(message.id)) return { byId, children: tree.children };
  const siblings = tree.children.get(message.parentId) ?? [];
  return { byId, children: new Map(tree.children).set(message.parentId, [...siblings, message.id]) };
}

/** pathTo lists the messages from the root to a leaf. A loop in the parents ends the path. */
export function pathTo(tree: Tree, leafId: string | null): ChatMessage[] {
  const path: ChatMessage[] = [];
  const seen = new Set<string>();
  for (let id = leafId; id !== null && !seen.has(id);) {
    const message = tree.byId.get(id);
    if (!message) break;
    seen.add(id);
    path.push(message);
    id = message.parentId;
  }
  return path.reverse();
}

/** newestLeaf follows the newest child from a message down. */
export function newestLeaf(tree: Tree, from: string | null): string | null {
  const seen = new Set<string>();
  let id = from;
  for (;;) {
    const next = tree.children.get(id)?.at(-1);
    if (next === undefined || seen.has(next)) return id;
    seen.add(next);
    id = next;
  }
}

export interface Siblings {
  ids: readonly string[];
  /** Position of the message among them, from 0. */
  index: number;
}

export function siblingsOf(tree: Tree, message: ChatMessage): Siblings {
  const parent = message.parentId !== null && tree.byId.has(message.parentId) ? message.parentId : null;
  const ids = tree.children.get(parent) ?? [message.id];
  return { ids, index: Math.max(0, ids.indexOf(message.id)) };
}

/** siblingLeaf is the end of the branch one step beside a message, or null at either end. */
export function siblingLeaf(tree: Tree, message: ChatMessage, step: 1 | -1): string | null {
  const { ids, index } = siblingsOf(tree, message);
  const id = ids[index + step];
  return id === undefined ? null : newestLeaf(tree, id);
}

/** questionOf finds the user's message that an answer belongs to. */
export function questionOf(tree: Tree, message: ChatMessage): ChatMessage | null {
  return pathTo(tree, message.id).findLast(({ role }) => role === "user") ?? null;
}
