import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { attempt, conversations, nano, start } from "./browser.mjs";

let env, page;
before(async () => {
  env = await start();
  page = await env.page();
  const { error } = await attempt(
    page,
    async (url) => {
      globalThis.progress = [];
      globalThis.model = await gemwire.Model.load(url, { device: "gpu", onProgress: (p) => progress.push(p) });
      globalThis.answer = async (asked, options = {}, of = model) => {
        let text = "",
          done;
        for await (const event of of.chat(asked, { temperature: 0, ...options })) {
          if (event.type === "text") text += event.text;
          if (event.type === "done") done = event;
        }
        return { text, done };
      };
      globalThis.question = [{ role: "user", content: "What is the capital of France?" }];
      globalThis.long = [{ role: "user", content: "Count from 1 to 10." }];
    },
    env.models.url("good"),
  );
  assert.equal(error, undefined);
});
after(() => env?.stop());

const reply = "The capital of France is Paris.";

test("loading tells its phases, in bytes", async () => {
  const progress = await page.evaluate(() => globalThis.progress);
  assert.deepEqual([...new Set(progress.map((p) => p.phase))], ["header", "check", "weights", "kernels"]);
  const weights = progress.filter((p) => p.phase === "weights");
  assert.ok(weights.every((p, i) => i === 0 || p.done >= weights[i - 1].done));
  assert.ok(weights.at(-1).total > 1e6);
});

test("info names sizes, plan and adapter", async () => {
  const info = await page.evaluate(() => model.info);
  assert.equal(info.device, "gpu");
  assert.equal(info.template, "e2b");
  assert.equal(info.fileSize, 12548000);
  assert.ok(info.plan.tensors.length > 50 && info.plan.weights > 1e6 && info.plan.cache > 0);
  assert.match(info.adapter.name, /swiftshader/i);
  assert.ok(info.limits.maxStorageBindingSize >= 128 << 20);
  assert.equal(typeof info.features.subgroups, "boolean");
});

test("greedy answers are the reference's", async () => {
  const cases = await conversations();
  assert.ok(cases.length >= 5, `${cases.length} cases`);
  for (const { messages, answer } of cases) {
    const { text, done } = await page.evaluate((messages) => answer(messages), messages);
    assert.equal(text, answer);
    assert.equal(done.reason, "stop");
  }
});

test("what a prompt shares with the one before is not computed again", async () => {
  const usage = await page.evaluate(async () => {
    const session = await model.session();
    const first = await answer(question, {}, session);
    const second = await answer(
      [...question, { role: "assistant", content: first.text }, { role: "user", content: "And of Spain?" }],
      {},
      session,
    );
    const length = await session.length();
    await session.close();
    return { first: first.done.usage, second: second.done.usage, length };
  });
  assert.equal(usage.first.computedTokens, usage.first.promptTokens);
  assert.ok(usage.second.computedTokens < usage.second.promptTokens / 2 + 5, JSON.stringify(usage));
  assert.ok(usage.length >= usage.second.promptTokens);
  assert.ok(usage.second.tokensPerSecond > 0 && usage.second.decodeMs > 0 && usage.second.prefillMs > 0);
});

test("stop ends the answer with a done event", async () => {
  const events = await page.evaluate(async () => {
    const events = [];
    for await (const event of model.chat(long, { temperature: 0 })) {
      events.push(event);
      if (event.type === "text") model.stop();
    }
    return events;
  });
  const done = events.at(-1);
  assert.equal(done.type, "done");
  assert.equal(done.reason, "cancelled");
  assert.ok(done.usage.answerTokens >= 1 && done.usage.answerTokens < 15, JSON.stringify(done));
});

test("a signal ends the answer with an error, and the session goes on", async () => {
  const { error } = await attempt(page, async () => {
    const controller = new AbortController();
    for await (const event of model.chat(long, { temperature: 0, signal: controller.signal })) {
      if (event.type === "text") controller.abort();
    }
  });
  assert.equal(error.code, "cancelled");
  assert.equal(await page.evaluate(async () => (await answer(question)).text), reply);
});

test("a signal that has fired ends an answer before it begins", async () => {
  const { error } = await attempt(page, () => answer(question, { signal: AbortSignal.abort() }));
  assert.equal(error.code, "cancelled");
});

test("leaving the loop frees the session", async () => {
  const text = await page.evaluate(async () => {
    for await (const event of model.chat(long, { temperature: 0 })) if (event.type === "text") break;
    return (await answer(question)).text;
  });
  assert.equal(text, reply);
});

test("two sessions keep their own texts, at the same time", async () => {
  const [one, other] = await page.evaluate(async () => {
    const sessions = [await model.session(), await model.session({ context: 512 })];
    const name = (name) => [{ role: "user", content: `My name is ${name}.` }];
    const both = await Promise.all([answer(name("Anna"), {}, sessions[0]), answer(question, {}, sessions[1])]);
    const texts = await Promise.all(sessions.map((s) => answer(question, {}, s)));
    for (const s of sessions) await s.close();
    return [both.map((a) => a.text), texts.map((a) => a.text)];
  });
  assert.equal(one[1], reply);
  assert.ok(one[0].length > 0 && one[0] !== reply);
  assert.deepEqual(other, [reply, reply]);
});

test("answers of one session wait for each other, however they are asked for", async () => {
  const texts = await page.evaluate(async () => {
    const whole = async (openai) =>
      (await openai.chat.completions.create({ messages: question, temperature: 0 })).choices;
    const [a, b, ...completions] = await Promise.all([
      answer(question),
      answer(question),
      whole(new gemwire.OpenAIChat(model)),
      whole(new gemwire.OpenAIChat(model)),
    ]);
    return [a.text, b.text, ...completions.map(([{ message }]) => message.content)];
  });
  assert.deepEqual(texts, [reply, reply, reply, reply]);
});

test("an answer within the loop of another one comes", async () => {
  const text = await page.evaluate(async () => {
    for await (const event of model.chat(question, { temperature: 0 }))
      if (event.type === "text") return (await answer(question)).text;
  });
  assert.equal(text, reply);
});

test("a signal ends the wait, and stop the answer under way alone", async () => {
  const results = await page.evaluate(async () => {
    const controller = new AbortController();
    const begun = Promise.withResolvers();
    const first = (async () => {
      for await (const event of model.chat(long, { temperature: 0 })) {
        if (event.type === "text") begun.resolve();
        if (event.type === "done") return event.reason;
      }
    })();
    const second = answer(question, { signal: controller.signal });
    const third = answer(question);
    controller.abort();
    const gaveUp = await second.catch(({ code }) => code);
    await begun.promise;
    model.stop();
    return [await first, gaveUp, (await third).text];
  });
  assert.deepEqual(results, ["cancelled", "cancelled", reply]);
});

test("sampling with a seed repeats itself", async () => {
  const [a, b] = await page.evaluate(async () => {
    const options = { temperature: 1.5, topK: 200, topP: 1, seed: 7, maxTokens: 12 };
    return [(await answer(long, options)).text, (await answer(long, options)).text];
  });
  assert.equal(a, b);
});

test("limits and stop strings", async () => {
  const { short, stopped } = await page.evaluate(async () => ({
    short: await answer(long, { maxTokens: 3 }),
    stopped: await answer(question, { stop: ["France"] }),
  }));
  assert.equal(short.done.reason, "length");
  assert.equal(short.done.usage.answerTokens, 3);
  assert.equal(stopped.text, "The capital of ");
  assert.equal(stopped.done.reason, "stop_string");
  assert.equal(stopped.done.stop, "France");
});

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Get the weather in a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

test("tools are called, and their results answered", async () => {
  const events = await page.evaluate(async (weather) => {
    const events = [];
    const asked = [{ role: "user", content: "What is the weather in Vienna?" }];
    for await (const event of model.chat(asked, { temperature: 0, tools: [weather] })) events.push(event);
    return events;
  }, weather);
  const { call } = events.find((e) => e.type === "tool_call");
  assert.equal(call.name, "get_weather");
  assert.deepEqual(call.arguments, { city: "Vienna" });
  assert.ok(call.id);
  assert.equal(events.at(-1).reason, "tool_calls");
});

test("tokens there and back", async () => {
  const found = await page.evaluate(async () => ({
    tokens: await model.tokenize("Hello <bos> world"),
    special: await model.tokenize("<bos>", { special: true }),
    text: await model.detokenize(await model.tokenize("Grüße, 世界!")),
    empty: await model.tokenize(""),
    count: await model.countTokens("Hello world"),
    chat: await model.countTokens(question),
    used: (await answer(question)).done.usage.promptTokens,
    system: await model.countTokens(question, { system: "Be brief." }),
  }));
  assert.deepEqual(found.special, [2]);
  assert.ok(!found.tokens.includes(2), "control tokens in a text are text");
  assert.equal(found.text, "Grüße, 世界!");
  assert.deepEqual(found.empty, []);
  assert.ok(found.count > 0);
  assert.equal(found.chat, found.used);
  assert.ok(found.system > found.chat);
});

test("completions in OpenAI's shape", async () => {
  const { whole, chunks } = await page.evaluate(async () => {
    const openai = new gemwire.OpenAIChat(model);
    const whole = await openai.chat.completions.create({ model: "any", messages: question, temperature: 0 });
    const chunks = [];
    const stream = await model.completions.create({
      messages: question,
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const chunk of stream) chunks.push(chunk);
    return { whole, chunks };
  });
  assert.equal(whole.object, "chat.completion");
  assert.equal(whole.choices[0].message.content, reply);
  assert.equal(whole.choices[0].finish_reason, "stop");
  assert.equal(whole.usage.total_tokens, whole.usage.prompt_tokens + whole.usage.completion_tokens);
  assert.equal(chunks.map((c) => c.choices[0]?.delta.content ?? "").join(""), reply);
  assert.equal(chunks[0].choices[0].delta.role, "assistant");
  assert.equal(chunks.at(-2).choices[0].finish_reason, "stop");
  assert.equal(chunks.at(-1).usage.completion_tokens, whole.usage.completion_tokens);
  assert.equal(new Set(chunks.map((c) => c.id)).size, 1);
});

test("what a caller did wrong is said", async (t) => {
  const wrong = {
    "a prompt larger than the context": [
      () => answer([{ role: "user", content: "word ".repeat(6000) }]),
      "context-full",
    ],
    "a message that is none": [() => answer([{ role: "user", content: 7 }, 5]), "bad-argument"],
    "no messages": [() => answer([]), "bad-argument"],
    "a sampling option out of range": [() => answer(question, { topP: 7 }), "bad-argument"],
    "a temperature that is no number": [() => answer(question, { temperature: "hot" }), "bad-argument"],
    "a token that there is not": [() => model.detokenize([1e6]), "bad-argument"],
    "a context larger than the model's": [() => model.session({ context: 1e6 }), "unsupported"],
    "a context of nothing": [() => model.session({ context: 0 }), "bad-argument"],
    "a context that is no number": [() => gemwire.Model.load(gemwire.nano, { context: NaN }), "bad-argument"],
    "an answer of fewer than no tokens": [() => answer(question, { maxTokens: -1 }), "bad-argument"],
    "an answer of half a token": [() => answer(question, { maxTokens: 0.5 }), "bad-argument"],
    "an answer longer than a number can be": [() => answer(question, { maxTokens: 1e300 }), "bad-argument"],
    "an image that is none": [
      () =>
        answer([{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] }]),
      "bad-media",
    ],
    "a message that cannot be sent": [() => answer([{ role: "user", content: () => {} }]), "bad-argument"],
  };
  for (const [name, [work, code]] of Object.entries(wrong)) {
    await t.test(name, async () => {
      const { error } = await attempt(page, work);
      assert.equal(error?.code, code, error?.message);
      assert.ok(error.message.length > 15);
    });
  }
});

test("what cannot be loaded is said", async (t) => {
  const wrong = {
    "a page that is not there": [(url) => gemwire.Model.load(url), "missing", "not-found"],
    "a page that is no model": [(url) => gemwire.Model.load(url), "notgguf", "bad-file"],
    "a large file without ranges": [(url) => gemwire.Model.load(url), "huge", "no-ranges"],
    "a file that changes": [(url) => gemwire.Model.load(url), "changes", "changed"],
    "a server that stalls": [
      (url) => gemwire.Model.load(url, { request: { retries: 1, backoff: 10, stall: 300 } }),
      "stalls",
      "network",
    ],
    "another part than asked for": [(url) => gemwire.Model.load(url), "shifts", "network"],
    "a file that is cut off": [(url) => gemwire.Model.load(url), "liesless", "bad-file"],
    "an address where nobody is": [() => gemwire.Model.load("http://127.0.0.1:1/model.gguf"), "good", "network"],
    "a name that is not stored": [() => gemwire.Model.loadFromOpfs("nothing"), "good", "not-found"],
    "no address": [() => gemwire.Model.load("ftp://example.org/x"), "good", "bad-argument"],
    "no source": [() => gemwire.Model.load(undefined), "good", "bad-argument"],
    text: [() => gemwire.Model.load(new Blob(["not a model, not at all"])), "good", "bad-file"],
    "a context larger than the model's": [
      () => gemwire.Model.load(gemwire.nano, { context: 1e6 }),
      "good",
      "unsupported",
    ],
  };
  for (const [name, [work, fault, code]] of Object.entries(wrong)) {
    await t.test(name, async () => {
      const { error } = await attempt(page, work, env.models.url(fault));
      assert.equal(error?.code, code, error?.message);
      assert.ok(error.message.length > 15);
      assert.doesNotMatch(error.message, /failed to fetch|networkerror|load failed/i);
    });
  }
});

test("a device without a network hears so at the first try", async () => {
  await page.evaluate(() => gemwire.store.list()); // so that the worker is there
  await env.context.setOffline(true);
  try {
    const download = (url) => gemwire.store.download(url, { name: "never", request: { retries: 1e9 } });
    const { error } = await attempt(page, download, env.models.url("good"));
    assert.equal(error?.code, "network");
    assert.match(error.message, /cannot be reached: this device is offline$/);
  } finally {
    await env.context.setOffline(false);
  }
});

test("a model over its budget comes with a smaller plan, which works", async () => {
  const least = await page.evaluate(async () => {
    const { plan } = await gemwire.store.plan(gemwire.nano, { device: "gpu", context: 1024, memoryBudget: 1 });
    return plan.weights + plan.cache + plan.activations;
  });
  const { error } = await attempt(
    page,
    (memoryBudget) => gemwire.Model.load(gemwire.nano, { device: "gpu", memoryBudget, context: 4096 }),
    least,
  );
  assert.equal(error?.code, "out-of-memory");
  assert.ok(error.suggestion?.context < 4096, JSON.stringify(error));
  const { value } = await attempt(
    page,
    (suggestion) => gemwire.store.plan(gemwire.nano, { device: "gpu", ...suggestion }),
    error.suggestion,
  );
  assert.equal(value.fits, true);
});

test("a plan from the header alone", async () => {
  const { value } = await attempt(
    page,
    (url) => gemwire.store.plan(url, { device: "gpu" }),
    env.models.url("good", "plan"),
  );
  assert.equal(value.fits, true);
  assert.deepEqual(value.plan, await page.evaluate(() => model.info.plan));
  const asked = env.models.requests.filter((r) => r.key === "plan");
  assert.ok(asked.length <= 5, `${asked.length} requests`);
});

test("loading is cancelled", async () => {
  const { error } = await attempt(
    page,
    async (url) => {
      const controller = new AbortController();
      const loading = gemwire.Model.load(url, { device: "gpu", signal: controller.signal });
      setTimeout(() => controller.abort(), 1500);
      await loading;
    },
    env.models.url("slow"),
  );
  assert.equal(error.code, "cancelled");
});

test("Go's heap stays small", async () => {
  const { heap } = await page.evaluate(() => model.memory());
  assert.ok(heap < 64e6, `${heap} bytes`);
});

test("the same model from a File, an ArrayBuffer and OPFS, and as the built-in one", async (t) => {
  const ways = {
    File: () =>
      fetch("/dist/nano.gguf")
        .then((r) => r.blob())
        .then((b) => gemwire.Model.load(new File([b], "nano.gguf"), { device: "gpu" })),
    ArrayBuffer: () =>
      fetch("/dist/nano.gguf")
        .then((r) => r.arrayBuffer())
        .then((b) => gemwire.Model.load(b, { device: "gpu" })),
    OPFS: (url) =>
      gemwire.downloadToOpfs(url, { name: "nano" }).then(() => gemwire.Model.loadFromOpfs("nano", { device: "gpu" })),
    "built-in": () => gemwire.Model.load(gemwire.nano, { device: "gpu" }),
    "no worker": (url) =>
      import("/dist/worker.js").then(({ serve }) => gemwire.Model.load(url, { device: "gpu", worker: serve })),
  };
  for (const [name, way] of Object.entries(ways)) {
    await t.test(name, async () => {
      const { value, error } = await attempt(
        page,
        `async (url) => {
        const other = await (${way})(url);
        const { text } = await answer(question, {}, other);
        await other.close();
        return text;
      }`,
        env.models.url("good"),
      );
      assert.equal(error, undefined);
      assert.equal(value, reply);
    });
  }
});

test("closing ends what is under way", async () => {
  const { error, later } = await page.evaluate(async () => {
    let error;
    const asked = answer(long).catch((e) => {
      error = e.code;
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await model.close();
    await asked;
    const later = await answer(question).catch((e) => e.code);
    return { error, later };
  });
  assert.ok(error === undefined || error === "closed" || error === "cancelled", error);
  assert.equal(later, "closed");
});
