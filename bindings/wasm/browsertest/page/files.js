// A file system for Go in a worker: the server's folders, read-only, and /tmp
// in memory. It is what Go's syscall package asks of Node's fs. Every call is
// answered at once: a worker may wait for a request.
"use strict";
(() => {
  const flags = { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536 };
  const written = new Map([["/tmp", null]]); // in /tmp: path to {bytes}, null for a folder
  const open = new Map(); // descriptor to {path, entry, position, append}
  let cwd = "/",
    nextDescriptor = 3,
    line = "";
  const decoder = new TextDecoder();

  const failure = (code, path) => Object.assign(new Error(`${code}: ${path}`), { code });
  const inMemory = (path) => path === "/tmp" || path.startsWith("/tmp/");
  const parent = (path) => path.slice(0, path.lastIndexOf("/")) || "/";

  function absolute(path) {
    const parts = [];
    for (const part of (path.startsWith("/") ? path : `${cwd}/${path}`).split("/")) {
      if (part === "..") parts.pop();
      else if (part && part !== ".") parts.push(part);
    }
    return `/${parts.join("/")}`;
  }

  function request(path, query, type) {
    const http = new XMLHttpRequest();
    http.open("GET", path.split("/").map(encodeURIComponent).join("/") + query, false);
    http.responseType = type;
    http.send();
    if (http.status === 404) throw failure("ENOENT", path);
    if (http.status !== 200) throw failure("EIO", path);
    return http.response;
  }

  function entryOf(path) {
    if (!inMemory(path)) {
      const { size, folder } = request(path, "?stat", "json");
      return { size, folder };
    }
    if (!written.has(path)) throw failure("ENOENT", path);
    const file = written.get(path);
    return { size: file?.bytes.length ?? 0, folder: file === null, file };
  }

  function statOf({ size, folder, file }) {
    const mode = folder ? 0o40755 : 0o100644;
    const now = Date.now();
    return {
      dev: 1,
      ino: 0,
      mode,
      nlink: 1,
      uid: 0,
      gid: 0,
      rdev: 0,
      size: file?.bytes.length ?? size,
      blksize: 4096,
      blocks: Math.ceil(size / 512),
      atimeMs: now,
      mtimeMs: now,
      ctimeMs: now,
      isDirectory: () => folder,
    };
  }

  function create(path, mode) {
    if (!inMemory(path)) throw failure("EROFS", path);
    if (written.get(parent(path)) !== null) throw failure("ENOENT", path);
    if (mode & flags.O_EXCL && written.has(path)) throw failure("EEXIST", path);
    if (!written.has(path)) written.set(path, { bytes: new Uint8Array(0) });
  }

  function openFile(given, mode) {
    const path = absolute(given);
    if (mode & flags.O_CREAT) create(path, mode);
    const entry = entryOf(path);
    if (!entry.folder && mode & (flags.O_WRONLY | flags.O_RDWR) && !entry.file) throw failure("EROFS", path);
    if (entry.file && mode & flags.O_TRUNC) entry.file.bytes = new Uint8Array(0);
    open.set(nextDescriptor, { path, entry, position: 0, append: Boolean(mode & flags.O_APPEND), fetched: null });
    return nextDescriptor++;
  }

  const descriptor = (fd) => {
    if (!open.has(fd)) throw failure("EBADF", String(fd));
    return open.get(fd);
  };

  function read(fd, buffer, offset, length, position) {
    const file = descriptor(fd);
    if (file.entry.folder) throw failure("EISDIR", file.path);
    if (!file.entry.file) file.fetched ??= new Uint8Array(request(file.path, "", "arraybuffer"));
    const bytes = file.entry.file?.bytes ?? file.fetched;
    const from = position ?? file.position;
    const part = bytes.subarray(from, from + length);
    buffer.set(part, offset);
    if (position === null) file.position += part.length;
    return part.length;
  }

  function write(fd, buffer, offset, length, position) {
    if (fd === 1 || fd === 2) return print(buffer.subarray(offset, offset + length));
    const {
      entry: { file },
      ...state
    } = descriptor(fd);
    if (!file) throw failure("EBADF", String(fd));
    const from = state.append ? file.bytes.length : (position ?? state.position);
    if (from + length > file.bytes.length) {
      const grown = new Uint8Array(from + length);
      grown.set(file.bytes);
      file.bytes = grown;
    }
    file.bytes.set(buffer.subarray(offset, offset + length), from);
    if (position === null) open.get(fd).position = from + length;
    return length;
  }

  function print(bytes) {
    line += decoder.decode(bytes, { stream: true });
    const lines = line.split("\n");
    line = lines.pop();
    lines.forEach(globalThis.fs.printed);
    return bytes.length;
  }

  function mkdir(path) {
    path = absolute(path);
    if (!inMemory(path)) throw failure("EROFS", path);
    if (written.has(path)) throw failure("EEXIST", path);
    if (written.get(parent(path)) !== null) throw failure("ENOENT", path);
    written.set(path, null);
  }

  function remove(path) {
    path = absolute(path);
    if (!written.has(path)) throw failure(inMemory(path) ? "ENOENT" : "EROFS", path);
    if ([...written.keys()].some((other) => other.startsWith(`${path}/`))) throw failure("ENOTEMPTY", path);
    written.delete(path);
  }

  function rename(from, to) {
    [from, to] = [absolute(from), absolute(to)];
    if (!written.get(from) || !inMemory(to)) throw failure("ENOENT", from);
    written.set(to, written.get(from));
    written.delete(from);
  }

  function readdir(path) {
    path = absolute(path);
    if (!inMemory(path)) return request(path, "?list", "json");
    return [...written.keys()]
      .filter((other) => parent(other) === path && other !== path)
      .map((other) => other.slice(path.length + 1))
      .sort();
  }

  function truncate(file, length) {
    const bytes = new Uint8Array(length);
    bytes.set(file.bytes.subarray(0, length));
    file.bytes = bytes;
  }

  const unlink = (path) => {
    if (written.get(absolute(path)) === null) throw failure("EISDIR", path);
    remove(path);
  };
  const rmdir = (path) => {
    if (written.get(absolute(path))) throw failure("ENOTDIR", path);
    remove(path);
  };
  const stat = (path) => statOf(entryOf(absolute(path)));
  const nothing = () => undefined;
  const refused = (path) => {
    throw failure("ENOSYS", String(path));
  };
  const calls = {
    open: openFile,
    read,
    write,
    mkdir,
    rename,
    readdir,
    unlink,
    rmdir,
    stat,
    lstat: stat,
    close: (fd) => void open.delete(fd),
    fstat: (fd) => statOf(descriptor(fd).entry),
    ftruncate: (fd, length) => truncate(descriptor(fd).entry.file, length),
    truncate: (path, length) => truncate(entryOf(absolute(path)).file, length),
    fsync: nothing,
    chmod: nothing,
    fchmod: nothing,
    utimes: nothing,
    chown: refused,
    fchown: refused,
    lchown: refused,
    link: refused,
    symlink: refused,
    readlink: refused,
  };

  globalThis.fs = {
    constants: flags,
    printed: console.log,
    writeSync: (fd, bytes) => write(fd, bytes, 0, bytes.length, null),
  };
  for (const [name, call] of Object.entries(calls)) {
    globalThis.fs[name] = (...args) => {
      const callback = args.pop();
      let result;
      try {
        result = call(...args);
      } catch (error) {
        return callback(error.code ? error : failure("EIO", error.message));
      }
      callback(null, result);
    };
  }
  globalThis.process = {
    pid: 1,
    ppid: 0,
    umask: () => 0,
    cwd: () => cwd,
    chdir: (path) => {
      cwd = absolute(path);
    },
    getuid: () => 0,
    getgid: () => 0,
    geteuid: () => 0,
    getegid: () => 0,
    getgroups: () => [],
  };
  globalThis.path = { resolve: (...parts) => absolute(parts.join("/")) };
})();
