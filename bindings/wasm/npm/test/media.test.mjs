// Images and recordings, against the reference's greedy answers.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { attempt, root, start } from "./browser.mjs";

const folder = join(root, "testdata/conformance/nano");
const cases = JSON.parse(await readFile(join(folder, "cases.json"), "utf8"));
const wanted = (list) => list.map(({ file, answer }) => ({ file, text: answer.replace(/<turn\|>$/, "") }));

let env, page;
before(async () => {
  env = await start({
    folders: {
      "/media": folder,
      "/fixtures": join(import.meta.dirname, "fixtures"),
      "/animations": join(root, "multimodal/picture/testdata/animations"),
    },
  });
  page = await env.page();
  const { error } = await attempt(page, async () => {
    globalThis.model = await gemwire.Model.load(gemwire.nano, { device: "cpu" });
    globalThis.file = async (name) => new File([await (await fetch(`/media/${name}`)).arrayBuffer()], name);
    globalThis.about = (part, text) => [{ role: "user", content: [part, { type: "text", text }] }];
    globalThis.answer = async (messages, options = {}, of = model) => {
      let text = "",
        done,
        media = 0;
      for await (const event of of.chat(messages, { temperature: 0, maxTokens: 40, ...options })) {
        if (event.type === "text") text += event.text;
        if (event.type === "media") media++;
        if (event.type === "done") done = event;
      }
      return { text, media, usage: done.usage };
    };
    globalThis.wav = (samples, rate) => {
      const view = new DataView(new ArrayBuffer(44 + 2 * samples.length));
      const text = (at, s) => [...s].forEach((c, i) => view.setUint8(at + i, c.charCodeAt(0)));
      text(0, "RIFF");
      view.setUint32(4, 36 + 2 * samples.length, true);
      text(8, "WAVEfmt ");
      view.setUint32(16, 16, true);
      view.setUint16(20, 1, true);
      view.setUint16(22, 1, true);
      view.setUint32(24, rate, true);
      view.setUint32(28, 2 * rate, true);
      view.setUint16(32, 2, true);
      view.setUint16(34, 16, true);
      text(36, "data");
      view.setUint32(40, 2 * samples.length, true);
      samples.forEach((v, i) => view.setInt16(44 + 2 * i, Math.round(v * 32768), true));
      return view.buffer;
    };
    // samplesOf reads the test's WAV files: 16 bits, one channel, 16 kHz.
    globalThis.samplesOf = async (name) =>
      Float32Array.from(new Int16Array((await (await file(name)).arrayBuffer()).slice(44)), (v) => v / 32768);
  });
  assert.equal(error, undefined);
});
after(() => env?.stop());

test("the model says what it takes", async () => {
  assert.deepEqual(await page.evaluate(() => [model.info.images, model.info.audio]), [true, true]);
});

test("greedy answers about pictures are the reference's", async () => {
  const { value, error } = await attempt(
    page,
    async (cases) => {
      const answers = [];
      for (const c of cases)
        answers.push({
          file: c.file,
          ...(await answer(about({ type: "image", image: await file(c.file), budget: c.budget }, c.question))),
        });
      return answers;
    },
    cases.images,
  );
  assert.equal(error, undefined);
  assert.deepEqual(
    value.map(({ file, text }) => ({ file, text })),
    wanted(cases.images),
  );
  for (const { media, usage } of value)
    assert.ok(media > 0 && usage.media === 1 && usage.mediaMs > 0, JSON.stringify({ media, usage }));
});

test("greedy answers about recordings are the reference's", async () => {
  const { value, error } = await attempt(
    page,
    async (cases) => {
      const answers = [];
      for (const c of cases)
        answers.push({
          file: c.file,
          ...(await answer(about({ type: "audio", audio: await file(c.file) }, c.question))),
        });
      return answers;
    },
    cases.clips,
  );
  assert.equal(error, undefined);
  assert.deepEqual(
    value.map(({ file, text }) => ({ file, text })),
    wanted(cases.clips),
  );
  for (const { media, usage } of value) assert.ok(media > 0 && usage.media === 1, JSON.stringify({ media, usage }));
});

test("a video is its frames, and its sound where that is wanted", async () => {
  const { value, error } = await attempt(page, async () => {
    const clip = new File([await (await fetch("/fixtures/colours.webm")).arrayBuffer()], "colours.webm");
    const gif = await (await fetch("/animations/plain.gif")).blob();
    const sheet = (colour) => {
      const canvas = new OffscreenCanvas(96, 72);
      const context = canvas.getContext("2d");
      context.fillStyle = colour;
      context.fillRect(0, 0, 96, 72);
      return context.getImageData(0, 0, 96, 72);
    };
    const frames = ["#f00", "#0f0", "#00f"].map(sheet);
    const parts = {
      webm: { type: "video", video: clip },
      three: { type: "video", video: clip, frames: 3 },
      "three again": { type: "video", video: clip, frames: 3 },
      heard: { type: "video", video: clip, frames: 3, sound: true },
      gif: { type: "video", video: gif },
      given: { type: "video", video: { frames, indices: [0, 24, 48], fps: 24 } },
      "a larger budget": { type: "video", video: { frames, indices: [0, 24, 48], fps: 24 }, budget: 140 },
      "an address": { type: "video_url", video_url: { url: "/animations/lossy.webp" }, frames: 2 },
    };
    const made = {};
    for (const [name, part] of Object.entries(parts)) {
      const { usage } = await answer(about(part, "What happens?"), { maxTokens: 1 });
      made[name] = [usage.media ?? 0, usage.promptTokens];
    }
    return made;
  });
  assert.equal(error, undefined);
  const media = Object.fromEntries(Object.entries(value).map(([name, [n]]) => [name, n]));
  assert.deepEqual(media, {
    webm: 32,
    three: 3,
    "three again": 0, // known, as its frames are with the sound
    heard: 1,
    gif: 5,
    given: 3,
    "a larger budget": 3,
    "an address": 2,
  });
  assert.ok(value.heard[1] > value.three[1] + 70, "three seconds of sound");
  assert.equal(value.three[1], value.given[1], "the same number of frames, at the same times");
  assert.ok(value["a larger budget"][1] > value.given[1] + 150, JSON.stringify(value));
});

test("what is no video is refused", async () => {
  const refusals = await page.evaluate(async () => {
    const noise = new Blob([new Uint8Array(100)], { type: "video/mp4" });
    const refused = {};
    for (const [name, part] of Object.entries({
      noise: { type: "video", video: noise },
      "a broken GIF": { type: "video", video: new Blob(["GIF89a, or so"]) },
      "no frames": { type: "video", video: noise, frames: 0 },
      nothing: { type: "video", video: 7 },
      "an empty list": { type: "video", video: { frames: [] } },
      "numbers out of order": { type: "video", video: { frames: [noise, noise], indices: [3, 1] } },
      "sound of frames": { type: "video", video: { frames: [new ImageData(9, 9)] }, sound: true },
    })) {
      await answer(about(part, "What?")).catch((error) => (refused[name] = error.code));
    }
    return refused;
  });
  assert.deepEqual(refusals, {
    noise: "bad-media",
    "a broken GIF": "bad-media",
    "no frames": "bad-argument",
    nothing: "bad-argument",
    "an empty list": "bad-argument",
    "numbers out of order": "bad-argument",
    "sound of frames": "bad-argument",
  });
});

test("a picture in every form is the same picture", async () => {
  const [, , scene] = cases.images;
  const { value, error } = await attempt(
    page,
    async ({ file: name, budget, question }) => {
      const blob = await file(name);
      const bitmap = await createImageBitmap(blob, { premultiplyAlpha: "none", colorSpaceConversion: "none" });
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      const context = canvas.getContext("2d");
      context.drawImage(bitmap, 0, 0);
      const dataUrl = await new Promise((resolve) => {
        const reader = new FileReader();
        reader.onload = () => resolve(reader.result);
        reader.readAsDataURL(blob);
      });
      const forms = {
        URL: { type: "image", image: new URL(`/media/${name}`, location.href), budget },
        "relative address": { type: "image", image: `/media/${name}`, budget },
        "data URL": { type: "image", image: dataUrl, budget },
        "blob URL": { type: "image", image: URL.createObjectURL(blob), budget },
        ImageBitmap: { type: "image", image: bitmap, budget },
        ImageData: { type: "image", image: context.getImageData(0, 0, bitmap.width, bitmap.height), budget },
        "OpenAI's, a data URL": { type: "image_url", image_url: { url: dataUrl }, budget },
        "OpenAI's, low detail": { type: "image_url", image_url: { url: `/media/${name}`, detail: "low" } },
      };
      const answers = {};
      for (const [form, part] of Object.entries(forms)) answers[form] = (await answer(about(part, question))).text;
      // A bitmap stays its owner's.
      return { answers, width: bitmap.width };
    },
    scene,
  );
  assert.equal(error, undefined);
  const [, , { text }] = wanted(cases.images);
  for (const [form, said] of Object.entries(value.answers)) assert.equal(said, text, form);
  assert.ok(value.width > 0);
});

test("a recording in every form says the same", async () => {
  const [clip] = cases.clips;
  const { value, error } = await attempt(
    page,
    async ({ file: name, question }) => {
      const blob = await file(name);
      const samples = await samplesOf(name);
      const buffer = new AudioBuffer({ length: samples.length, sampleRate: 16000, numberOfChannels: 2 });
      for (const channel of [0, 1]) buffer.copyToChannel(samples, channel);
      const base64 = btoa(String.fromCharCode(...new Uint8Array(await blob.arrayBuffer())));
      const forms = {
        URL: { type: "audio", audio: `/media/${name}` },
        "data URL": { type: "audio", audio: `data:audio/wav;base64,${base64}` },
        samples: { type: "audio", audio: { samples, sampleRate: 16000 } },
        "two channels of samples": { type: "audio", audio: { samples: [samples, samples], sampleRate: 16000 } },
        AudioBuffer: { type: "audio", audio: buffer },
        "OpenAI's": { type: "input_audio", input_audio: { data: base64, format: "wav" } },
      };
      const answers = {};
      for (const [form, part] of Object.entries(forms)) answers[form] = (await answer(about(part, question))).text;
      return { answers, length: samples.length };
    },
    clip,
  );
  assert.equal(error, undefined);
  const [{ text }] = wanted(cases.clips);
  for (const [form, said] of Object.entries(value.answers)) assert.equal(said, text, form);
  assert.ok(value.length > 0, "samples stay their owner's");
});

test("what only the browser decodes is heard: Opus in WebM, as a recorder writes it", async () => {
  const { value, error } = await attempt(
    page,
    async ({ file: name, question }) => {
      const samples = await samplesOf(name);
      const context = new AudioContext({ sampleRate: 16000 });
      const buffer = new AudioBuffer({ length: samples.length, sampleRate: 16000 });
      buffer.copyToChannel(samples, 0);
      const source = new AudioBufferSourceNode(context, { buffer });
      const sink = context.createMediaStreamDestination();
      source.connect(sink);
      const recorder = new MediaRecorder(sink.stream, { mimeType: "audio/webm;codecs=opus" });
      const chunks = [];
      recorder.ondataavailable = ({ data }) => chunks.push(data);
      const ended = new Promise((resolve) => {
        recorder.onstop = resolve;
      });
      await context.resume();
      recorder.start();
      source.start();
      await new Promise((resolve) => {
        source.onended = resolve;
      });
      recorder.stop();
      await ended;
      await context.close();
      const blob = new Blob(chunks, { type: "audio/webm" });
      const first = await answer(about({ type: "audio", audio: blob }, question));
      const again = await answer(about({ type: "audio", audio: blob }, question));
      return { first, again };
    },
    cases.clips[0],
  );
  assert.equal(error, undefined);
  assert.match(value.first.text, /\w/);
  assert.equal(value.first.usage.media, 1);
  assert.equal(value.again.usage.media ?? 0, 0, "the same file is decoded to the same samples");
  assert.equal(value.again.text, value.first.text);
});

test("a follow-up does not encode again, a released tower comes back, and tokens are counted", async () => {
  const [, , scene] = cases.images;
  const { value, error } = await attempt(
    page,
    async ({ file: name, budget, question, soft_tokens }) => {
      const session = await model.session();
      const asked = about({ type: "image", image: await file(name), budget }, question);
      const first = await answer(asked, {}, session);
      const more = await answer(
        [
          ...asked,
          { role: "assistant", content: first.text },
          { role: "user", content: "What is the capital of France?" },
        ],
        {},
        session,
      );
      await model.releaseTowers();
      await session.reset();
      await session.close();
      const other = await model.session();
      const again = await answer(asked, {}, other);
      await other.close();
      const tokens =
        (await model.countTokens(asked)) - (await model.countTokens([{ role: "user", content: question }]));
      return { first, more, again, soft: tokens - soft_tokens };
    },
    scene,
  );
  assert.equal(error, undefined);
  assert.equal(value.more.usage.media ?? 0, 0);
  assert.ok(value.more.usage.computedTokens < 40, JSON.stringify(value.more.usage));
  assert.match(value.more.text, /\w/);
  assert.equal(value.again.text, value.first.text);
  assert.equal(value.again.usage.media, 1);
  assert.equal(value.soft, 2);
});

test("completions in OpenAI's form see and hear", async () => {
  const [, , scene] = cases.images;
  const { value, error } = await attempt(
    page,
    async ({ file: name, question }) => {
      const { choices } = await model.completions.create({
        temperature: 0,
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: question },
              { type: "image_url", image_url: { url: `/media/${name}`, detail: "low" } },
            ],
          },
        ],
      });
      return choices[0].message.content;
    },
    scene,
  );
  assert.equal(error, undefined);
  assert.match(value, /cross|circle|triangle|square/);
});

test("an answer can be ended while a picture is encoded", async () => {
  const { value, error } = await attempt(
    page,
    async ({ file: name, question }) => {
      const session = await model.session();
      const kinds = [];
      try {
        for await (const event of session.chat(
          about({ type: "image", image: await file(name), budget: 280 }, question),
        )) {
          kinds.push(event.reason ?? event.type);
          if (event.type === "media") model.stop();
        }
      } finally {
        await session.close();
      }
      return [...new Set(kinds)];
    },
    cases.images[1],
  );
  assert.equal(error, undefined);
  assert.deepEqual(value, ["media", "cancelled"]);
});

const refusals = {
  "a data URL that is no URL": ["bad-argument", () => ({ type: "image", image: "data:image/png,%E0%A4%A" })],
  "bytes that are no picture": ["bad-media", () => ({ type: "image", image: new Blob(["hello"]) })],
  "an empty file": ["bad-media", () => ({ type: "image", image: new File([], "a.png") })],
  "a picture that breaks off": [
    "bad-media",
    async () => ({ type: "image", image: (await file("scene0.png")).slice(0, 900) }),
  ],
  "a header of 100 000 × 1 pixels": [
    "bad-media",
    async () => {
      const bytes = new Uint8Array(await (await file("scene0.png")).arrayBuffer());
      new DataView(bytes.buffer).setUint32(16, 100_000);
      new DataView(bytes.buffer).setUint32(20, 1);
      return { type: "image", image: new Blob([bytes]) };
    },
  ],
  "a header of 200 megapixels": [
    "bad-media",
    async () => {
      const bytes = new Uint8Array(await (await file("scene0.png")).arrayBuffer());
      new DataView(bytes.buffer).setUint32(16, 20_000);
      new DataView(bytes.buffer).setUint32(20, 10_000);
      return { type: "image", image: new Blob([bytes]) };
    },
  ],
  "a closed bitmap": [
    "bad-media",
    async () => {
      const bitmap = await createImageBitmap(new ImageData(4, 4));
      bitmap.close();
      return { type: "image", image: bitmap };
    },
  ],
  "a picture 1 pixel high": ["bad-media", () => ({ type: "image", image: new ImageData(20_000, 1) })],
  "a file of 65 MB": ["bad-media", () => ({ type: "image", image: new Blob([new Uint8Array(68 << 20)]) })],
  "an address without a file": ["not-found", () => ({ type: "image", image: "/media/none.png" })],
  "something else": ["bad-argument", () => ({ type: "image", image: 7 })],
  "a budget of 7": ["bad-argument", async () => ({ type: "image", image: await file("scene0.png"), budget: 7 })],
  "samples that are no numbers": [
    "bad-media",
    () => ({ type: "audio", audio: { samples: new Float32Array(16000).fill(NaN), sampleRate: 16000 } }),
  ],
  "no samples": ["bad-media", () => ({ type: "audio", audio: { samples: new Float32Array(0), sampleRate: 16000 } })],
  "a hundredth of a second": [
    "bad-media",
    () => ({ type: "audio", audio: { samples: new Float32Array(160), sampleRate: 16000 } }),
  ],
  "a rate of 0": ["bad-media", () => ({ type: "audio", audio: { samples: new Float32Array(1600), sampleRate: 0 } })],
  "31 seconds": [
    "bad-media",
    () => ({ type: "audio", audio: { samples: new Float32Array(31 * 16000), sampleRate: 16000 } }),
  ],
  "10 minutes of WAV": [
    "bad-media",
    () => ({ type: "audio", audio: new Blob([wav(new Float32Array(600 * 8000), 8000)]) }),
  ],
  "bytes that are no recording": ["bad-media", () => ({ type: "audio", audio: new Blob(["hello, this is no sound"]) })],
  "text that is not base64": [
    "bad-argument",
    () => ({ type: "input_audio", input_audio: { data: "?", format: "mp3" } }),
  ],
};
for (const [name, [code, make]] of Object.entries(refusals)) {
  test(`refused: ${name}`, async () => {
    const result = await attempt(
      page,
      `async () => {
      return await answer(about(await (${make})(), "What is this?"));
    }`,
    );
    assert.equal(result.error?.code, code, JSON.stringify(result));
    assert.ok(result.error.message.length > 15, result.error.message);
    assert.match(
      (await page.evaluate(() => answer([{ role: "user", content: "What is the capital of France?" }]))).text,
      /Paris/,
    );
  });
}

test("longer sound is heard in pieces where that is asked for", async () => {
  const { value, error } = await attempt(
    page,
    async ({ question }) => {
      const audio = { samples: new Float32Array(31 * 16000), sampleRate: 16000 };
      const alone = await model.countTokens([{ role: "user", content: question }]);
      return (await model.countTokens(about({ type: "audio", audio, split: true }, question))) - alone;
    },
    cases.clips[0],
  );
  assert.equal(error, undefined);
  assert.ok(value > 750 && value < 800, `${value} tokens`);
});

test("a model that was loaded for text only says so", async () => {
  const { value, error } = await attempt(
    page,
    async ({ file: name, question }) => {
      const other = await gemwire.Model.loadTextOnly(gemwire.nano, { device: "cpu", context: 512 });
      try {
        const failed = await answer(about({ type: "image", image: await file(name) }, question), {}, other).catch(
          ({ code, message }) => ({ code, message }),
        );
        await other.releaseTowers();
        return { info: [other.info.images, other.info.audio], failed };
      } finally {
        await other.close();
      }
    },
    cases.images[0],
  );
  assert.equal(error, undefined);
  assert.deepEqual(value.info, [false, false]);
  assert.equal(value.failed.code, "unsupported");
  assert.match(value.failed.message, /text only/);
});

test("a model without towers says so, and gets them from its second file", async () => {
  const { value, error } = await attempt(
    page,
    async ({ file: name, question, budget }) => {
      const bare = await gemwire.Model.load("/forms/nano-text.gguf", { device: "cpu", context: 512 });
      const refused = await answer(about({ type: "image", image: await file(name) }, question), {}, bare).catch(
        ({ code, message }) => ({ code, message }),
      );
      const info = [bare.info.images, bare.info.audio];
      await bare.close();
      const whole = await gemwire.Model.load("/forms/nano-text.gguf", {
        device: "cpu",
        context: 512,
        mmproj: "/forms/nano-mmproj.gguf",
      });
      const { text } = await answer(about({ type: "image", image: await file(name), budget }, question), {}, whole);
      await whole.close();
      return { info, refused, text };
    },
    cases.images[0],
  );
  assert.equal(error, undefined);
  assert.deepEqual(value.info, [false, false]);
  assert.equal(value.refused.code, "unsupported");
  assert.match(value.refused.message, /no image tower/);
  assert.equal(value.text, wanted(cases.images)[0].text);
});

test("on the GPU the answers are the reference's too, and released towers give their memory back", async () => {
  const { value, error } = await attempt(
    page,
    async ([image, clip]) => {
      const other = await gemwire.Model.load(gemwire.nano, { device: "gpu", context: 512 });
      try {
        const seen = await answer(
          about({ type: "image", image: await file(image.file), budget: image.budget }, image.question),
          {},
          other,
        );
        const heard = await answer(about({ type: "audio", audio: await file(clip.file) }, clip.question), {}, other);
        const before = (await other.memory()).gpu.weights;
        await other.releaseTowers();
        return {
          texts: [seen.text, heard.text],
          media: [seen.media, heard.media],
          before,
          after: (await other.memory()).gpu.weights,
        };
      } finally {
        await other.close();
      }
    },
    [cases.images[2], cases.clips[0]],
  );
  assert.equal(error, undefined);
  assert.deepEqual(value.texts, [wanted(cases.images)[2].text, wanted(cases.clips)[0].text]);
  assert.ok(
    value.media.every((events) => events > 0),
    String(value.media),
  );
  assert.ok(value.after < value.before - 1e6, `${value.before} bytes of weights, then ${value.after}`);
});
