// Models in several files: split ones, and a projector beside the text model.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { attempt, forms, start } from "./browser.mjs";

const parts = [1, 2, 3].map((no) => `nano-0000${no}-of-00003.gguf`);
let env, page, size;
before(async () => {
  size = (await Promise.all(parts.map((name) => stat(join(forms, name))))).reduce((sum, { size }) => sum + size, 0);
  env = await start();
  page = await env.page();
  await page.evaluate(() => {
    globalThis.file = async (name) => new File([await (await fetch(`/forms/${name}`)).blob()], name);
    // load answers with the model's size, and shows that it is one.
    globalThis.load = async (source, options) => {
      const model = await gemwire.Model.load(source, { context: 256, ...options });
      const { fileSize } = model.info;
      const tokens = await model.tokenize("Hello");
      await model.close();
      if (!tokens.length) throw new Error("no tokens");
      return fileSize;
    };
  });
});
after(() => env?.stop());

test("the address of any part stands for all", async (t) => {
  for (const name of [parts[0], parts[2]]) {
    await t.test(name, async () => {
      const { value, error } = await attempt(page, (url) => load(url), env.models.url("good", undefined, name));
      assert.equal(error, undefined);
      assert.equal(value, size);
    });
  }
});

test("a split model answers as the whole one", async () => {
  const { value, error } = await attempt(
    page,
    async (url) => {
      const model = await gemwire.Model.load(`${url}?signature=secret`, { context: 256 });
      let text = "";
      for await (const event of model.chat([{ role: "user", content: "What is the capital of France?" }], {
        temperature: 0,
      }))
        if (event.type === "text") text += event.text;
      await model.close();
      return text;
    },
    env.models.url("good", undefined, parts[0]),
  );
  assert.equal(error, undefined);
  assert.equal(value, "The capital of France is Paris.");
});

test("picked files, in any order", async () => {
  const { value, error } = await attempt(page, async (names) => load(await Promise.all(names.map(file))), [
    parts[1],
    parts[0],
    parts[2],
  ]);
  assert.equal(error, undefined);
  assert.equal(value, size);
});

test("parts that are missing, or of another model, are told", async (t) => {
  const wrong = {
    "one that the server lacks": [
      (url) => load(url),
      env.models.url("good", undefined, "nano-00001-of-00004.gguf"),
      "not-found",
      /00001-of-00004/,
    ],
    "one that was not picked": [
      async (names) => load([await file(names[0]), await file(names[1])]),
      parts,
      "bad-file",
      /of a model of 3 parts|from a model of 3 parts/,
    ],
    "one alone": [async (names) => load(await file(names[0])), parts, "bad-file", /3 parts/],
    "one twice": [
      async (names) => load([await file(names[0]), await file(names[0]), await file(names[2])]),
      parts,
      "bad-file",
      /part/,
    ],
    none: [() => load([]), null, "bad-argument", /source/],
  };
  for (const [name, [work, argument, code, says]] of Object.entries(wrong)) {
    await t.test(name, async () => {
      const { error } = await attempt(page, work, argument);
      assert.equal(error?.code, code, error?.message);
      assert.match(error.message, says);
    });
  }
});

test("a split model in the store is one model", async (t) => {
  const url = env.models.url("good", undefined, parts[0]);
  const sha256 = await Promise.all(
    parts.map(async (name) =>
      createHash("sha256")
        .update(await readFile(join(forms, name)))
        .digest("hex"),
    ),
  );
  await t.test("it is downloaded as one", async () => {
    const { value, error } = await attempt(
      page,
      async ({ url, sha256 }) => {
        const seen = [];
        const model = await gemwire.store.download(url, { sha256, onProgress: (p) => seen.push(p) });
        return { model, seen, list: await gemwire.store.list() };
      },
      { url, sha256 },
    );
    assert.equal(error, undefined);
    assert.equal(value.model.name, "nano.gguf");
    assert.equal(value.model.files, 3);
    assert.equal(value.model.size, size);
    assert.equal(value.model.complete, true);
    assert.deepEqual(value.seen.at(-1), { done: size, total: size, resumed: 0 });
    assert.deepEqual(value.list, [value.model]);
  });
  await t.test("it loads", async () => {
    const { value, error } = await attempt(page, () => load({ opfs: "nano.gguf" }));
    assert.equal(error, undefined);
    assert.equal(value, size);
  });
  await t.test("it is renamed and deleted as one", async () => {
    const { value, error } = await attempt(page, async () => {
      const renamed = await gemwire.store.rename("nano.gguf", "other");
      const fileSize = await load({ opfs: "other" });
      const { usage: before } = await gemwire.store.estimate();
      await gemwire.store.delete("other");
      const { usage: after } = await gemwire.store.estimate();
      return { renamed, fileSize, freed: before - after, list: await gemwire.store.list() };
    });
    assert.equal(error, undefined);
    assert.equal(value.renamed.name, "other");
    assert.equal(value.fileSize, size);
    assert.ok(value.freed >= size, `${value.freed} bytes freed`);
    assert.deepEqual(value.list, []);
  });
  await t.test("it goes on where it was killed", async () => {
    const slow = env.models.url("slow", undefined, parts[0]);
    const other = await env.page();
    await other.evaluate(
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
      slow,
    );
    await other.close();
    const [half, ...more] = await page.evaluate(() => gemwire.store.list());
    assert.deepEqual(more, []);
    assert.ok(!half.complete && half.received > size / 4 && half.received < size, JSON.stringify(half));
    assert.equal((await attempt(page, () => load({ opfs: "killed" }))).error?.code, "bad-file");
    let result;
    for (let i = 0; i < 50; i++) {
      result = await attempt(
        page,
        async (url) => {
          const seen = [];
          return {
            model: await gemwire.store.download(url, { name: "killed", onProgress: (p) => seen.push(p) }),
            seen,
          };
        },
        slow,
      );
      if (result.error?.code !== "busy") break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.equal(result.error, undefined);
    assert.equal(result.value.seen[0].resumed, half.received);
    assert.equal(result.value.model.complete, true);
    await page.evaluate(() => gemwire.store.delete("killed"));
  });
  await t.test("wrong hashes leave no model", async () => {
    const { error } = await attempt(page, ({ url, sha256 }) => gemwire.store.download(url, { sha256 }), {
      url,
      sha256: [sha256[0], sha256[0], sha256[2]],
    });
    assert.equal(error?.code, "bad-file");
    assert.match(error.message, /nano\.gguf \(part 2 of 3\)/);
    assert.ok((await page.evaluate(() => gemwire.store.list())).every((m) => !m.complete));
    assert.equal(
      (await attempt(page, ({ url, sha256 }) => gemwire.store.download(url, { sha256 }), { url, sha256: sha256[0] }))
        .error?.code,
      "bad-argument",
    );
    await page.evaluate(() => gemwire.store.delete("nano.gguf"));
  });
  await t.test("picked files are imported as one", async () => {
    const { value, error } = await attempt(
      page,
      async (names) => {
        const model = await gemwire.store.import(await Promise.all(names.map(file)));
        const fileSize = await load({ opfs: model.name });
        const one = await gemwire.store.import(await file("nano-text.gguf"), { name: model.name });
        return { model, fileSize, one, list: await gemwire.store.list() };
      },
      [parts[2], parts[0], parts[1]],
    );
    assert.equal(error, undefined);
    assert.equal(value.model.name, "nano.gguf");
    assert.equal(value.fileSize, size);
    assert.equal(value.one.files, 1);
    assert.deepEqual(value.list, [value.one], "another model takes the name over");
    await page.evaluate(() => gemwire.store.delete("nano.gguf"));
  });
  await t.test("an import that breaks off leaves nothing", async () => {
    const { error } = await attempt(
      page,
      async (names) => {
        const control = new AbortController();
        await gemwire.store.import(await Promise.all(names.map(file)), {
          signal: control.signal,
          onProgress: ({ done, total }) => {
            if (done > total / 2) control.abort();
          },
        });
      },
      parts,
    );
    assert.equal(error?.code, "cancelled");
    assert.deepEqual(await page.evaluate(() => gemwire.store.list()), []);
  });
});

test("a projector beside the text model", async (t) => {
  const text = env.models.url("good", undefined, "nano-text.gguf"),
    mmproj = env.models.url("good", undefined, "nano-mmproj.gguf");
  const both = (await stat(join(forms, "nano-text.gguf"))).size + (await stat(join(forms, "nano-mmproj.gguf"))).size;
  await t.test("from addresses", async () => {
    const { value, error } = await attempt(page, ({ text, mmproj }) => load(text, { mmproj }), { text, mmproj });
    assert.equal(error, undefined);
    assert.equal(value, both);
  });
  await t.test("from files", async () => {
    const { value, error } = await attempt(page, async () =>
      load(await file("nano-text.gguf"), { mmproj: await file("nano-mmproj.gguf") }),
    );
    assert.equal(error, undefined);
    assert.equal(value, both);
  });
  await t.test("it is planned", async () => {
    const { value, error } = await attempt(page, ({ text, mmproj }) => gemwire.store.plan(text, { mmproj }), {
      text,
      mmproj,
    });
    assert.equal(error, undefined);
    assert.equal(value.fits, true);
  });
  const wrong = {
    "one that is no projector": [
      async () => load(await file("nano-text.gguf"), { mmproj: await file("nano-text.gguf") }),
      "bad-file",
    ],
    "one for a model that has towers": [
      async () => load(gemwire.nano, { mmproj: await file("nano-mmproj.gguf") }),
      "bad-file",
    ],
    "one alone": [async () => load(await file("nano-mmproj.gguf")), "unsupported"],
    "one that is not there": [async () => load(await file("nano-text.gguf"), { mmproj: "/nothing.gguf" }), "not-found"],
    "one that is none": [async () => load(await file("nano-text.gguf"), { mmproj: 7 }), "bad-argument"],
  };
  for (const [name, [work, code]] of Object.entries(wrong)) {
    await t.test(name, async () => {
      const { error } = await attempt(page, work);
      assert.equal(error?.code, code, error?.message);
    });
  }
  await t.test("a text-only load leaves it alone", async () => {
    const { value, error } = await attempt(
      page,
      async (mmproj) => {
        const model = await gemwire.Model.loadTextOnly(await file("nano-text.gguf"), { mmproj, context: 256 });
        await model.close();
        return model.info.fileSize;
      },
      env.models.url("missing", "never", "nano-mmproj.gguf"),
    );
    assert.equal(error, undefined);
    assert.ok(value < both);
    assert.ok(!env.models.requests.some((r) => r.key === "never"));
  });
});

test("a power preference is passed on, and one that there is not is refused", async () => {
  assert.equal(
    (await attempt(page, async () => load(await file("nano-text.gguf"), { powerPreference: "low-power" }))).error,
    undefined,
  );
  const { error } = await attempt(page, async () => load(await file("nano-text.gguf"), { powerPreference: "most" }));
  assert.equal(error?.code, "bad-argument");
  assert.match(error.message, /powerPreference/);
});
