import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { after, before, beforeEach, test } from "node:test";
import { chromiumAlone } from "../../browsertest/chromium.mjs";
import { attempt, nano, start } from "./browser.mjs";

let env, page, sha256, size;
before(async () => {
  const bytes = await readFile(nano);
  sha256 = createHash("sha256").update(bytes).digest("hex");
  size = bytes.length;
  env = await start();
  page = await env.page();
});
after(() => env?.stop());
beforeEach(() =>
  page.evaluate(async () => {
    for (const { name } of await gemwire.store.list()) await gemwire.store.delete(name);
  }),
);

const quick = { retries: 2, backoff: 10, stall: 700 };
const download = (url, options = {}) =>
  attempt(
    page,
    async ({ url, options }) => {
      const seen = [];
      const model = await gemwire.store.download(url, { ...options, onProgress: (p) => seen.push(p) });
      return { model, seen };
    },
    { url, options: { request: quick, ...options } },
  );
const list = () => page.evaluate(() => gemwire.store.list());

test("a download is whole, hashed, listed and reported", async () => {
  const { value } = await download(env.models.url("good"));
  assert.equal(value.model.name, "model.gguf");
  assert.equal(value.model.size, size);
  assert.equal(value.model.sha256, sha256);
  assert.equal(value.model.complete, true);
  assert.deepEqual(value.seen.at(-1), { done: size, total: size, resumed: 0 });
  const [stored, ...others] = await list();
  assert.deepEqual(others, []);
  assert.deepEqual(stored, value.model);
});

test("what is here already is not downloaded again", async () => {
  const url = env.models.url("good");
  await download(url);
  const { length } = env.models.requests;
  const { value } = await download(url);
  assert.equal(value.model.complete, true);
  assert.equal(env.models.requests.length, length + 1, "one request asks whether the file is still the same");
});

test("several models stand side by side; they are renamed and deleted", async () => {
  const url = env.models.url("good");
  await download(url, { name: "one" });
  await download(url, { name: "two" });
  assert.deepEqual(
    (await list()).map((m) => m.name),
    ["one", "two"],
  );
  const { value } = await attempt(page, () => gemwire.store.rename("one", "three"));
  assert.equal(value.name, "three");
  assert.equal(value.complete, true);
  assert.equal((await attempt(page, () => gemwire.store.rename("two", "three"))).error.code, "bad-argument");
  await page.evaluate(() => gemwire.store.delete("two"));
  assert.deepEqual(
    (await list()).map((m) => m.name),
    ["three"],
  );
});

test("a download that was killed half-way goes on, and is never taken for whole", async () => {
  const url = env.models.url("slow");
  const other = await env.page();
  const begun = other.evaluate(
    (url) =>
      new Promise((resolve) => {
        gemwire.store
          .download(url, {
            name: "killed",
            onProgress: ({ done, total }) => {
              if (done > total / 2) resolve();
            },
          })
          .catch(() => {});
      }),
    url,
  );
  await begun;
  await other.close();
  const [half] = await list();
  assert.equal(half.complete, false);
  assert.ok(half.received > 0 && half.received < size, `received ${half.received}`);
  const { error } = await attempt(page, () => gemwire.Model.loadFromOpfs("killed"));
  assert.equal(error.code, "bad-file");
  assert.match(error.advice, /resumes/);
  // The other page's worker may take a moment to let go of the file.
  let result;
  for (let i = 0; i < 50; i++) {
    result = await download(url, { name: "killed" });
    if (result.error?.code !== "busy") break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal(result.error, undefined);
  assert.equal(result.value.model.sha256, sha256);
  assert.equal(result.value.seen[0].resumed, half.received);
  assert.equal(env.models.requests.at(-1).range, `bytes=${half.received}-${size - 1}`);
});

test("a cancelled download keeps what it has", async () => {
  const { error } = await attempt(
    page,
    async (url) => {
      const controller = new AbortController();
      await gemwire.store.download(url, {
        signal: controller.signal,
        onProgress: ({ done }) => {
          if (done > 3e6) controller.abort();
        },
      });
    },
    env.models.url("slow", "cancelled"),
  );
  assert.equal(error.code, "cancelled");
  const [half] = await list();
  assert.ok(half.received > 0 && !half.complete);
  const { value } = await download(env.models.url("good", "cancelled"));
  assert.equal(value.model.complete, true, "another address begins anew");
  assert.equal(value.seen[0].resumed, 0);
});

test("servers that misbehave", async (t) => {
  for (const [fault, outcome] of Object.entries({
    noranges: "whole",
    sizeless: "whole",
    breaks: "whole",
    stutters: "whole",
    pauses: "whole",
    busy: "whole",
    stalls: "network",
    liesmore: "changed",
    shifts: "network",
    missing: "not-found",
    forbidden: "network",
    notgguf: "bad-file",
  })) {
    await t.test(fault, async () => {
      const { value, error } = await download(env.models.url(fault), { name: fault });
      if (outcome === "whole") {
        assert.equal(error, undefined);
        assert.equal(value.model.sha256, sha256);
      } else {
        assert.equal(error?.code, outcome, error?.message ?? "it is taken for whole");
        assert.ok(error.message.length > 20 && error.advice?.length > 20);
        assert.ok(!(await list()).some((m) => m.complete));
      }
    });
  }
});

test("a server that says less than there is gives no whole model", async () => {
  const { value, error } = await download(env.models.url("liesless"), { name: "less" });
  // What it calls the whole is a GGUF file cut off; its hash, and opening it, tell.
  if (!error) assert.notEqual(value.model.sha256, sha256);
  const checked = await download(env.models.url("liesless"), { name: "checked", sha256 });
  assert.equal(checked.error.code, "bad-file");
  assert.match(checked.error.message, /SHA-256/);
});

test("a file that changes between two attempts begins anew", async () => {
  const { error } = await attempt(
    page,
    async (url) => {
      const controller = new AbortController();
      await gemwire.store.download(url, {
        name: "changing",
        signal: controller.signal,
        onProgress: ({ done }) => {
          if (done > 2e6) controller.abort();
        },
      });
    },
    env.models.url("changes", "changing"),
  );
  assert.equal(error.code, "cancelled");
  await fetch(env.models.url("changes", "changing")).then((r) => r.arrayBuffer());
  const { value } = await download(env.models.url("changes", "changing"), { name: "changing" });
  assert.equal(value.seen[0].resumed, 0);
  assert.equal(value.model.sha256, sha256);
});

test("a wrong hash is no model", async () => {
  const { error } = await download(env.models.url("good"), { sha256: "0".repeat(64) });
  assert.equal(error.code, "bad-file");
  assert.deepEqual(await list(), []);
});

test("quota is asked for beforehand", { skip: chromiumAlone }, async () => {
  const cdp = await env.context.newCDPSession(page);
  await cdp.send("Storage.overrideQuotaForOrigin", { origin: env.site.url, quotaSize: 5 << 20 });
  try {
    const { length } = env.models.requests;
    const { error } = await download(env.models.url("good"));
    assert.equal(error?.code, "quota");
    assert.match(error.message, /needs 13 MB more/);
    assert.ok(env.models.requests.length <= length + 1, "nothing was downloaded");
    assert.deepEqual(await list(), []);
  } finally {
    await cdp.send("Storage.overrideQuotaForOrigin", { origin: env.site.url });
  }
});

test("storage that runs full on the way ends in a sentence", { skip: chromiumAlone }, async () => {
  const cdp = await env.context.newCDPSession(page);
  await cdp.send("Storage.overrideQuotaForOrigin", { origin: env.site.url, quotaSize: 5 << 20 });
  try {
    const { error } = await download(env.models.url("sizeless"), { name: "full" });
    assert.equal(error?.code, "quota");
    assert.match(error.advice, /Delete models/);
    assert.ok((await list()).every((m) => !m.complete));
  } finally {
    await cdp.send("Storage.overrideQuotaForOrigin", { origin: env.site.url });
  }
  assert.equal((await download(env.models.url("good"), { name: "full" })).value.model.sha256, sha256);
});

test("a Blob is imported, and one that is no model is not", async () => {
  const { value } = await attempt(page, async () => {
    const blob = await (await fetch("/dist/nano.gguf")).blob();
    return gemwire.store.import(new File([blob], "picked.gguf"));
  });
  assert.equal(value.sha256, sha256);
  const { error } = await attempt(page, () => gemwire.store.import(new Blob(["hello"]), { name: "text" }));
  assert.equal(error.code, "bad-file");
  assert.deepEqual(
    (await list()).map((m) => m.name),
    ["picked.gguf"],
  );
});

test("names that are no file names are refused", async () => {
  for (const name of ["", "..", "a/b", "x.json", "x.part", "a\u0000b"]) {
    const { error } = await attempt(page, async (name) => gemwire.store.import(new Blob(["GGUF"]), { name }), name);
    assert.equal(error?.code, "bad-argument", JSON.stringify(name));
  }
});

test("two downloads of one model do not meet", async () => {
  const codes = await page.evaluate(async (url) => {
    const both = await Promise.allSettled([
      gemwire.store.download(url, { name: "same" }),
      gemwire.store.download(url, { name: "same" }),
    ]);
    return both.map((r) => r.reason?.code ?? "done").sort();
  }, env.models.url("good"));
  assert.deepEqual(codes, ["busy", "done"]);
});

test("requests carry the headers given", async () => {
  const { value } = await download(env.models.url("good", "auth"), {
    request: { headers: { Authorization: "Bearer secret" } },
  });
  assert.equal(value.model.complete, true);
  assert.ok(env.models.requests.filter((r) => r.key === "auth").every((r) => r.authorization === "Bearer secret"));
});
