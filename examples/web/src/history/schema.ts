/** The database's statements in order of age; user_version counts how many have run. */
export const migrations: readonly string[] = [
  `CREATE TABLE conversation (
     id TEXT PRIMARY KEY,
     title TEXT NOT NULL,
     named INTEGER NOT NULL DEFAULT 0,
     options TEXT NOT NULL,
     leaf_id TEXT,
     created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL,
     deleted_at INTEGER
   );
   CREATE INDEX conversation_by_time ON conversation (updated_at DESC);
   CREATE TABLE message (
     number INTEGER PRIMARY KEY,
     id TEXT NOT NULL UNIQUE,
     conversation_id TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
     parent_id TEXT,
     role TEXT NOT NULL,
     content TEXT NOT NULL,
     status TEXT NOT NULL,
     extra TEXT NOT NULL,
     created_at INTEGER NOT NULL
   );
   CREATE INDEX message_by_conversation ON message (conversation_id, created_at);
   CREATE VIRTUAL TABLE message_text USING fts5 (
      content, content = 'message', content_rowid = 'number', tokenize = 'unicode61 remove_diacritics 2'
    );
   CREATE TRIGGER message_added AFTER INSERT ON message BEGIN
     INSERT INTO message_text (rowid, content) VALUES (new.number, new.content);
   END;
   CREATE TRIGGER message_removed AFTER DELETE ON message BEGIN
     INSERT INTO message_text (message_text, rowid, content) VALUES ('delete', old.number, old.content);
   END;
   CREATE TRIGGER message_changed AFTER UPDATE OF content ON message WHEN old.content <> new.content BEGIN
     INSERT INTO message_text (message_text, rowid, content) VALUES ('delete', old.number, old.content);
     INSERT INTO message_text (rowid, content) VALUES (new.number, new.content);
   END;`,
  `CREATE TABLE media (
     id TEXT PRIMARY KEY,
     conversation_id TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
     data BLOB NOT NULL
   );
   CREATE INDEX media_by_conversation ON media (conversation_id);`,
];
