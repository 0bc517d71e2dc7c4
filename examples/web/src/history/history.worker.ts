// Owns the database: SQLite in WebAssembly over OPFS access handles (the opfs-sahpool VFS), which one
// worker at a time can hold. The page that starts it holds the lock in app/ownership.ts.
import sqlite3InitModule, { type Database, type SqlValue } from "@sqlite.org/sqlite-wasm";
import type { ChatMessage, Conversation } from "../chat/message";
import type { Call, HistoryApi, Hit, Inserted, Medium, Opened, Reply } from "./api";
import { conversationFrom, extraOf, messageFrom, type Row } from "./rows";
import { migrations } from "./schema";
import { ftsQuery } from "./searchTerms";
import { exportJson, freshIds, isThere, readChats, type Archive } from "./transfer";

// The database lies in opfs-sahpool. The other two VFS of OPFS would start a worker each, only to be there.
Object.assign(globalThis, {
  sqlite3ApiConfig: { disable: { vfs: { opfs: true, "opfs-vfs": true, "opfs-wl": true } } },
});

let opened: { db: Database; release: () => void } | null = null;

const attempts = 20;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function open(): Promise<Opened> {
  const sqlite3 = await sqlite3InitModule();
  const hasOpfs =
    typeof FileSystemFileHandle !== "undefined" && "createSyncAccessHandle" in FileSystemFileHandle.prototype;
  if (!hasOpfs || !(await opfsAnswers())) {
    opened = { db: new sqlite3.oo1.DB(":memory:"), release: () => undefined };
    prepare(opened.db);
    return { kept: false };
  }
  for (let attempt = 1; ; attempt++) {
    try {
      // After a hand-over the other page's handles may take a moment to close.
      const pool = await sqlite3.installOpfsSAHPoolVfs({
        name: `gemwire-${attempt}`,
        directory: "gemwire-history",
        initialCapacity: 6,
      });
      opened = {
        db: new pool.OpfsSAHPoolDb("/history.sqlite3"),
        release: () => {
          pool.pauseVfs();
        },
      };
      break;
    } catch (error) {
      if (attempt === attempts) throw error;
      await pause(150);
    }
  }
  prepare(opened.db);
  return { kept: true };
}

async function opfsAnswers(): Promise<boolean> {
  try {
    await navigator.storage.getDirectory();
    return true;
  } catch {
    return false;
  }
}

function prepare(db: Database): void {
  db.exec("PRAGMA foreign_keys = ON; PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = NORMAL;");
  const version = Number(db.selectValue("PRAGMA user_version"));
  for (const [index, statement] of migrations.entries()) {
    if (index < version) continue;
    db.transaction(() => db.exec(`${statement}; PRAGMA user_version = ${index + 1};`));
  }
}

function database(): Database {
  if (!opened) throw new Error("The history is closed.");
  return opened.db;
}

const rows = (sql: string, bind: SqlValue[] = []): Row[] =>
  database().exec({ sql, bind, rowMode: "object", returnValue: "resultRows" });

const run = (sql: string, bind: SqlValue[]): void => void database().exec({ sql, bind });

function saveConversation(conversation: Conversation): void {
  const { id, title, named, options, leafId, createdAt, updatedAt } = conversation;
  run(
    `INSERT INTO conversation (id, title, named, options, leaf_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET title = excluded.title, named = excluded.named, options = excluded.options,
       leaf_id = excluded.leaf_id, updated_at = excluded.updated_at`,
    [id, title, named ? 1 : 0, JSON.stringify(options), leafId, createdAt, updatedAt],
  );
}

/**
 * Writes messages, many in a statement: each statement has the index of the search written out, which takes longer than
 * the message.
 */
function saveMessages(messages: readonly ChatMessage[]): void {
  for (const some of statements(messages))
    run(
      `INSERT INTO message (id, conversation_id, parent_id, role, content, status, extra, created_at)
       VALUES ${some.map(() => "(?, ?, ?, ?, ?, ?, ?, ?)").join()}
       ON CONFLICT (id) DO UPDATE SET content = excluded.content, status = excluded.status, extra = excluded.extra`,
      some.flatMap((message) => {
        const { id, conversationId, parentId, role, content, status, createdAt } = message;
        return [id, conversationId, parentId, role, content, status, extraOf(message), createdAt];
      }),
    );
}

/** The messages by statement: SQLite binds at most 32,766 values, and holds a copy of all that are bound. */
function* statements(messages: readonly ChatMessage[]): Generator<ChatMessage[]> {
  let some: ChatMessage[] = [];
  let characters = 0;
  for (const message of messages) {
    some.push(message);
    characters += message.content.length;
    if (some.length < 1000 && characters < 1_000_000) continue;
    yield some;
    some = [];
    characters = 0;
  }
  if (some.length > 0) yield some;
}

function saveMedia(id: string, conversationId: string, data: Uint8Array): void {
  run("INSERT INTO media (id, conversation_id, data) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING", [
    id,
    conversationId,
    data,
  ]);
}

function media(id: string): Uint8Array | null {
  const data = rows("SELECT data FROM media WHERE id = ?", [id])[0]?.data;
  return data instanceof Uint8Array ? data : null;
}

function search(typed: string): Hit[] {
  const query = ftsQuery(typed);
  if (query === null) return [];
  const inMessages = rows(
    `SELECT m.conversation_id AS conversationId, m.id AS messageId,
            snippet(message_text, 0, char(1), char(2), '…', 14) AS snippet
       FROM message_text JOIN message m ON m.number = message_text.rowid
       JOIN conversation c ON c.id = m.conversation_id
      WHERE message_text MATCH ? AND c.deleted_at IS NULL
      ORDER BY rank LIMIT 100`,
    [query],
  );
  const words = typed.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const inTitles = rows("SELECT id, title FROM conversation WHERE deleted_at IS NULL ORDER BY updated_at DESC")
    .filter(({ title }) => words.every((word) => String(title).toLowerCase().includes(word)))
    .map(({ id }) => ({ conversationId: String(id), messageId: null, snippet: "" }));
  return [...inTitles, ...(inMessages as unknown as Hit[])];
}

const conversations = () =>
  rows("SELECT * FROM conversation WHERE deleted_at IS NULL ORDER BY updated_at DESC").map(conversationFrom);

const messages = (id: string) =>
  rows("SELECT * FROM message WHERE conversation_id = ? ORDER BY created_at, number", [id]).map(messageFrom);

/** The archive that is being written. */
let coming: {
  chats: AsyncGenerator<Archive, void>;
  present: ReadonlyMap<string, Conversation>;
  taken: Set<string>;
} & Inserted;

/** Reads all of a file before the first chat of it is written, so that one with a fault at its end brings none. */
async function readArchive(file: Blob): Promise<Inserted> {
  const present = new Map(conversations().map((conversation) => [conversation.id, conversation]));
  const fresh = new Set<string>();
  for await (const { conversations } of readChats(file))
    for (const conversation of conversations) if (!isThere(conversation, present)) fresh.add(conversation.id);
  coming = { chats: readChats(file), present, taken: new Set(), done: 0, total: fresh.size };
  return { done: 0, total: coming.total };
}

/** What a transaction of an import may hold: it costs as much as hundreds of messages, and others wait for it. */
const most = { messages: 2000, bytes: 10_000_000 };

async function insertNext(): Promise<Inserted> {
  const { chats, present, taken } = coming;
  const next: Archive[] = [];
  const size = { messages: 0, bytes: 0 };
  while (size.messages < most.messages && size.bytes < most.bytes) {
    const read = await chats.next();
    if (read.done) {
      coming.total = coming.done + next.length;
      break;
    }
    const fresh = freshIds(read.value, present, taken);
    if (fresh.conversations.length === 0) continue;
    next.push(fresh);
    size.messages += 1 + fresh.messages.length;
    for (const { data } of fresh.media) size.bytes += data.length;
    for (const { content } of fresh.messages) size.bytes += content.length;
  }
  database().transaction(() => {
    for (const { conversations, media } of next) {
      conversations.forEach(saveConversation);
      for (const { id, conversationId, data } of media) saveMedia(id, conversationId, data);
    }
    saveMessages(next.flatMap(({ messages }) => messages));
  });
  coming.done += next.length;
  return { done: coming.done, total: coming.total };
}

function archive(): Blob {
  const chats = conversations();
  const all = chats.flatMap(({ id }) => messages(id));
  const kept = new Map<string, Medium>();
  for (const { conversationId, attachments } of all) {
    for (const { id } of attachments ?? []) {
      const data = kept.has(id) ? null : media(id);
      if (data) kept.set(id, { id, conversationId, data });
    }
  }
  const text = exportJson({ conversations: chats, messages: all, media: [...kept.values()] });
  return new Blob([text], { type: "application/json" });
}

const api: HistoryApi = {
  open,
  close: () => {
    opened?.db.close();
    opened?.release();
    opened = null;
  },
  list: conversations,
  messages,
  saveConversation,
  saveMessage: (message) => saveMessages([message]),
  saveMedia,
  media,
  remove: (id) => run("UPDATE conversation SET deleted_at = ? WHERE id = ?", [Date.now(), id]),
  restore: (id) => run("UPDATE conversation SET deleted_at = NULL WHERE id = ?", [id]),
  purge: (before) => run("DELETE FROM conversation WHERE deleted_at < ?", [before]),
  search,
  readArchive,
  insertNext,
  archive,
};

async function answer({ id, method, args }: Call): Promise<Reply> {
  try {
    const call = api[method] as (...values: unknown[]) => unknown;
    return { id, ok: true, value: await call(...args) };
  } catch (error) {
    return { id, ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

self.addEventListener("message", (event: MessageEvent<Call>) => {
  void answer(event.data).then((reply) => {
    self.postMessage(reply);
  });
});
