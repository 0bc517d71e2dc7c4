import { adapters as kept, Model, type ChatEvent } from "gemwire";
import { nano } from "gemwire/nano";
import { beforeEach, describe, expect, it } from "vitest";
import { withStorage } from "../../test/storage";
import { freeName, nameFrom, useAdapters } from "./adaptersStore";
import { answering, labelWith, loadKept, type AdapterUse } from "./answering";
import { unzipped, zipped } from "./archive";

withStorage();

const files = () => [new File(["{}"], "adapter_config.json"), new File(["w"], "adapter_model.safetensors")];
const { take, rename, remove, restore, purge, refresh } = useAdapters.getState();
const names = () =>
  useAdapters
    .getState()
    .adapters.map(({ name }) => name)
    .sort();

beforeEach(async () => {
  for (const { name } of await kept.list()) await kept.delete(name);
  useAdapters.setState({ records: {} });
  await refresh();
});

/** What a model says with adapters in use: the scripted one names them. */
async function said(model: Model, uses: AdapterUse[]): Promise<string> {
  const events: ChatEvent[] = [];
  for await (const event of answering(model, uses, [{ role: "user", content: "hi" }], {})) events.push(event);
  return events.map((event) => (event.type === "text" ? event.text : "")).join("");
}

describe("adapters on this device", () => {
  it("get names of their own", async () => {
    expect([await take(files(), "facts"), await take(files(), "facts"), await take(files(), " ../a:b ")]).toEqual([
      "facts",
      "facts 2",
      "-a-b",
    ]);
    expect(names()).toEqual(["-a-b", "facts", "facts 2"]);
  });

  it("are hidden when deleted, come back, and go for good", async () => {
    await take(files(), "facts");
    remove("facts");
    expect(names()).toEqual([]);
    restore("facts");
    expect(names()).toEqual(["facts"]);
    remove("facts");
    // A name is free when nobody can want it back.
    expect(await take(files(), "facts")).toBe("facts 2");
    await purge();
    expect((await kept.list()).map(({ name }) => name)).toEqual(["facts 2"]);
    expect(names()).toEqual(["facts 2"]);
  });

  it("keep what is known of them under another name", async () => {
    await take(files(), "facts");
    useAdapters.getState().note("facts", { base: "nano", loss: 0.5 });
    await rename("facts", "truths");
    expect(useAdapters.getState().adapters).toMatchObject([{ name: "truths", base: "nano", loss: 0.5 }]);
  });

  it.each([
    ["a/b", "a-b"],
    ["..", "adapter"],
    ["  x  ", "x"],
    ["a\nb", "ab"],
    ["", "adapter"],
    ["é ü", "é ü"],
  ])("%j is called %j", (typed, name) => {
    expect(nameFrom(typed)).toBe(name);
  });

  it("have a number where the name is taken", () => {
    expect(freeName("a", ["a", "a 2"])).toBe("a 3");
  });
});

describe("answers with adapters", () => {
  it("use those that are asked for, by their weights, and no others", async () => {
    const model = await Model.load(nano);
    await take(files(), "facts");
    await take(files(), "tone");
    expect(await said(model, [])).toBe("You said: hi");
    expect(await said(model, [{ name: "facts", weight: 1 }])).toBe("1 × facts: You said: hi");
    expect(
      await said(model, [
        { name: "facts", weight: 0.5 },
        { name: "tone", weight: 2 },
      ]),
    ).toBe("0.5 × facts: 2 × tone: You said: hi");
    expect(await said(model, [{ name: "facts", weight: 0 }])).toBe("You said: hi");
    expect(useAdapters.getState().adapters.map(({ base }) => base)).toEqual(["Scripted", "Scripted"]);
  });

  it("come one after the other", async () => {
    const model = await Model.load(nano);
    await take(files(), "facts");
    expect(
      await Promise.all([
        said(model, [{ name: "facts", weight: 1 }]),
        said(model, []),
        said(model, [{ name: "facts", weight: 1 }]),
      ]),
    ).toEqual(["1 × facts: You said: hi", "You said: hi", "1 × facts: You said: hi"]);
  });

  it("take the newest state of an adapter", async () => {
    const model = await Model.load(nano);
    await take(files(), "facts");
    await loadKept(model, "facts");
    await new Promise((resolve) => setTimeout(resolve, 5));
    await kept.import(files(), { name: "facts" });
    await refresh();
    await loadKept(model, "facts");
    expect(await model.adapters()).toMatchObject([{ name: "facts" }]);
  });

  it("are refused with a sentence: of another model, or gone", async () => {
    const model = await Model.load(nano);
    await take(files(), "foreign");
    await expect(said(model, [{ name: "foreign", weight: 1 }])).rejects.toThrow(/made for another model/);
    await expect(said(model, [{ name: "lost", weight: 1 }])).rejects.toThrow(
      "The adapter “lost” is no longer on this device.",
    );
    expect(await said(model, [])).toBe("You said: hi");
  });

  it("say what they were made with", () => {
    expect(labelWith("nano", [])).toBe("nano");
    expect(
      labelWith("nano", [
        { name: "facts", weight: 1 },
        { name: "tone", weight: 0.5 },
        { name: "off", weight: 0 },
      ]),
    ).toBe("nano with facts and 0.5 × tone");
  });
});

describe("an adapter's files in an archive", () => {
  it("come out as they went in", async () => {
    const archive = await zipped(files(), "facts");
    expect(archive.name).toBe("facts.zip");
    const back = await unzipped(archive);
    expect(await Promise.all(back.map(async (file) => [file.name, await file.text()]))).toEqual([
      ["adapter_config.json", "{}"],
      ["adapter_model.safetensors", "w"],
    ]);
  });

  it("are taken as they are where there is no archive", async () => {
    const [config] = files();
    expect(config && (await unzipped(config))).toEqual([config]);
  });

  it("are missed with a sentence", async () => {
    await expect(unzipped(new File(["no archive"], "a.zip"))).rejects.toThrow("a.zip cannot be read as an archive.");
    await expect(unzipped(await zipped([new File(["x"], "notes.txt")], "b"))).rejects.toThrow(
      /^b\.zip contains no adapter/,
    );
  });
});
