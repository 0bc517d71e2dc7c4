// Teaching a model: over the shipped engine and the built-in model, and over the scripted one for what takes long or
// goes wrong.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const facts = [
  { prompt: "What color is the boat?", completion: "The boat is purple." },
  { prompt: "Where is the home of Linus?", completion: "The home of Linus is Oslo." },
];
const jsonl = (examples) => examples.map((example) => `${JSON.stringify(example)}\n`).join("");
const file = (text, name = "facts.jsonl") => ({ name, mimeType: "application/jsonl", buffer: Buffer.from(text) });

const picker = (page) => page.getByLabel("File with examples");
const section = (page, title) => page.getByRole("region", { name: title });
const adapters = (page) => page.getByRole("list", { name: "Adapters" }).getByRole("listitem");
const marked = (page) => section(page, "What the model will see").getByRole("listitem").locator("mark");

/** Lets go of a file over the page. */
async function drop(page, text) {
  const transfer = await page.evaluateHandle((content) => {
    const made = new DataTransfer();
    made.items.add(new File([content], "facts.jsonl"));
    return made;
  }, text);
  for (const event of ["dragenter", "dragover", "drop"])
    await page.dispatchEvent("main", event, { dataTransfer: transfer });
}

/** What a reading of a run says, such as its loss. */
const reading = (page, name) =>
  section(page, "Training")
    .locator("dt", { hasText: new RegExp(`^${name}$`) })
    .locator("+ dd")
    .innerText();

async function download(page, button) {
  const [started] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: button }).click(),
  ]);
  return { name: started.suggestedFilename(), buffer: readFileSync(await started.path()) };
}

/** Has a run planned and started over what is on the page. */
async function train(page, name) {
  await page.getByLabel("Name of the adapter").fill(name);
  await page.getByRole("button", { name: "Make the plan" }).click();
  await page.getByRole("button", { name: "Start training" }).click();
}

/** A page with an adapter of the scripted engine. */
async function taught(visitor, name) {
  const page = await visitor.open("#/fine-tune");
  await visitor.ready();
  await page
    .getByLabel("Files of an adapter")
    .setInputFiles([file("{}", "adapter_config.json"), file("w", "adapter_model.safetensors")]);
  await page.getByRole("button", { name: "Rename Imported" }).click();
  await page.getByLabel("Name of the adapter", { exact: true }).last().fill(name);
  await page.keyboard.press("Enter");
  await adapters(page).filter({ hasText: name }).waitFor();
  return page;
}

export default [
  {
    name:
      "fine-tune: nano is taught two facts: paused, gone on with after a reload, compared, used in a chat, " +
      "exported, deleted, imported",
    real: true,
    async run(visitor) {
      const page = await visitor.open("#/fine-tune");
      page.on("dialog", (dialog) => dialog.accept());
      await visitor.ready();
      await drop(page, `${jsonl(facts)}{broken\n`);
      await page.getByRole("button", { name: "Go to line 3" }).waitFor();
      assert.equal(await page.getByRole("button", { name: "Make the plan" }).isDisabled(), true);
      await page.getByRole("button", { name: "Delete example 3" }).click();
      await page.getByRole("button", { name: "Go to line 3" }).waitFor({ state: "detached" });
      assert.deepEqual(
        await marked(page).allInnerTexts(),
        facts.map(({ completion }) => `${completion}<turn|>`),
      );

      await page.getByText("Advanced", { exact: true }).click();
      await page.getByLabel("Epochs").fill("14");
      await page.getByLabel("Examples at a time").fill("8"); // both in each step
      await page.getByLabel("The rate").selectOption("stays");
      await train(page, "facts");
      await page.getByText(/^Training, step [1-9]/).waitFor();
      const first = Number(await reading(page, "Loss"));
      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByText(/^Paused, step/).waitFor();
      await page.reload();
      await visitor.ready();
      await page.getByRole("button", { name: "Continue facts" }).click();
      await page.getByText(/^Training, step/).waitFor();
      // The page stays live, and the run goes on while another is looked at.
      await visitor.go("/settings");
      await page.getByRole("link", { name: /Fine-tune training, \d+ %/ }).waitFor();
      await visitor.go("/fine-tune");
      const started = Date.now();
      await page.getByRole("button", { name: "Chat with it" }).waitFor({ timeout: 600_000 });
      const sentence = await section(page, "Training")
        .getByRole("img")
        .getAttribute("aria-labelledby")
        .then((id) => page.locator(`[id="${id}"]`).textContent());
      const [, last] = /to ([\d.e-]+) at step 14 of 14/.exec(sentence) ?? [];
      assert.ok(Number(last) < 0.1 && Number(last) < first / 20, `${sentence} It was ${first} when it was paused.`);
      visitor.notes.push(`14 steps on nano: ${sentence} The last took ${((Date.now() - started) / 1000).toFixed(0)} s`);

      await page.getByLabel("Question for both").fill(facts[1].prompt);
      await page.getByRole("button", { name: "Ask both" }).click();
      const answer = (label) => page.getByRole("article", { name: `Answer of ${label}`, exact: true });
      await answer("nano with facts").and(page.locator('[data-status="done"]')).waitFor();
      assert.equal(await answer("nano with facts").locator(".prose").innerText(), facts[1].completion);
      assert.notEqual(await answer("nano").locator(".prose").innerText(), facts[1].completion);

      await page.reload();
      await visitor.ready();
      await adapters(page)
        .filter({ hasText: /facts[\s\S]*for \w+[\s\S]*loss 0\.0/ })
        .waitFor();
      assert.equal(await page.getByRole("button", { name: "Continue facts" }).count(), 0);
      await page.getByRole("button", { name: "Chat with facts" }).click();
      await page.getByTitle("Model: nano with facts, ready").waitFor();
      assert.equal(await visitor.ask(facts[0].prompt), facts[0].completion);

      await visitor.go("/fine-tune");
      const peft = await download(page, "Export facts as PEFT's files");
      const gguf = await download(page, "Export facts as GGUF");
      assert.deepEqual(
        [peft.name, gguf.name, gguf.buffer.subarray(0, 4).toString()],
        ["facts.zip", "facts.gguf", "GGUF"],
      );
      await page.getByRole("button", { name: "Delete facts" }).click();
      await adapters(page).waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Undo" }).click();
      await adapters(page).waitFor();
      await page.getByRole("button", { name: "Delete facts" }).click();
      await page.reload();
      await visitor.ready();
      await section(page, "Your adapters").getByText("None yet.").waitFor();
      await page
        .getByLabel("Files of an adapter")
        .setInputFiles({ name: "facts.zip", mimeType: "application/zip", buffer: peft.buffer });
      await page.getByRole("button", { name: "Chat with facts", exact: true }).waitFor();
      await page
        .getByLabel("Files of an adapter")
        .setInputFiles({ name: "again.gguf", mimeType: "", buffer: gguf.buffer });
      await page.getByRole("button", { name: "Chat with again", exact: true }).click();
      assert.equal(await visitor.ask(facts[1].prompt), facts[1].completion);
    },
  },
  {
    name:
      "fine-tune: examples by hand: added, written, deleted, taken back, imported, exported, and there after a " +
      "reload",
    async run(visitor) {
      const page = await visitor.open("#/fine-tune");
      await visitor.ready();
      await page.getByRole("button", { name: "Type examples" }).click();
      await page.keyboard.type("Who?");
      await page.keyboard.press("Tab");
      await page.keyboard.type("Me.");
      await page.keyboard.press("Control+Enter");
      assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Question 2");
      await page.keyboard.type("Where?");
      await page.getByText("the completion is empty").first().waitFor();
      await page.getByLabel("Answer 2").fill("Here.");
      await page.getByText("2 examples").waitFor();
      await picker(page).setInputFiles(file('{"text":"Long ago."}\n{"messages":[]}\n'));
      await page.getByLabel("Line 3, as JSON").waitFor();
      await page.getByRole("button", { name: "Delete example 1" }).click();
      await page.getByRole("button", { name: "Undo deleting an example" }).click();
      assert.equal(await page.getByLabel("Answer 1").inputValue(), "Me.");
      const { name, buffer } = await download(page, "Export JSONL");
      assert.equal(name, "examples.jsonl");
      assert.equal(
        buffer.toString(),
        '{"prompt":"Who?","completion":"Me."}\n{"prompt":"Where?","completion":"Here."}\n' +
          '{"text":"Long ago."}\n{"messages":[]}\n',
      );
      await page.reload();
      await visitor.ready();
      assert.equal(await page.getByLabel("Answer 2").inputValue(), "Here.");
      await page.getByRole("button", { name: "Remove all examples" }).click();
      await page.getByRole("button", { name: "Type examples" }).waitFor();
      await page.getByRole("button", { name: "Undo removing all" }).click();
      await page.getByLabel("Answer 2").waitFor();
    },
  },
  {
    name:
      "fine-tune: many examples have pages, what is cut off or cannot be learned from is said with its line, and " +
      "a run is held to what the model knows",
    async run(visitor) {
      const page = await visitor.open("#/fine-tune");
      await visitor.ready();
      const many = Array.from({ length: 45 }, (_, i) => ({
        prompt: `Question ${i}?`,
        completion: i === 7 ? "word ".repeat(3000).trim() : `Answer ${i}.`,
      }));
      await picker(page).setInputFiles(file(`${jsonl(many)}{broken\n`));
      await page.getByText("45 examples").waitFor();
      await page.getByText(/Line 8 is too long\. Its last \d+ tokens are cut off/).waitFor();
      await page.getByRole("button", { name: "Go to line 46" }).click();
      await page.getByLabel("Line 46, as JSON").waitFor();
      assert.equal(await page.getByRole("button", { name: "Make the plan" }).isDisabled(), true);
      await page.getByLabel("Skip the line that cannot be used").check();
      await page.getByText("Advanced", { exact: true }).click();
      await page.getByLabel("Keep what it knows").check();
      await page.getByLabel("Held out, in %").fill("5"); // of so few examples none is, unless asked for
      await train(page, "many");
      await page.getByText(/^Training: conversation \d+ of \d+ to remember$/).waitFor();
      await adapters(page).filter({ hasText: "many" }).waitFor();
      await page.getByText("As a table").click();
      await page.getByRole("columnheader", { name: "Held out" }).waitFor();
    },
  },
  {
    name: "fine-tune: a run that comes apart, and an adapter of another model, end in sentences",
    async run(visitor) {
      const page = await taught(visitor, "foreign");
      await picker(page).setInputFiles(file(jsonl([{ prompt: "Why?", completion: "diverge" }])));
      await train(page, "bad");
      await page
        .getByRole("alert")
        .filter({ hasText: /no number[\s\S]*lower learning rate/ })
        .waitFor();
      await visitor.go("/");
      await page.getByRole("button", { name: "Options of this chat" }).click();
      await page.getByLabel("foreign").click();
      await page.getByRole("alert").filter({ hasText: "made for another model" }).waitFor();
      assert.equal(await page.getByLabel("foreign").isChecked(), false);
      await page.getByRole("button", { name: "Close", exact: true }).click();
      await visitor.go("/fine-tune");
      await page.getByRole("button", { name: "Chat with foreign" }).click();
      await visitor.type("hello");
      await page
        .getByText(/made for another model/)
        .first()
        .waitFor();
    },
  },
  {
    name: "fine-tune: a chat mixes adapters by weight, knows them under new names, and misses those that are gone",
    async run(visitor) {
      const page = await taught(visitor, "tone");
      await picker(page).setInputFiles(file(jsonl(facts)));
      await train(page, "facts");
      await page.getByRole("button", { name: "Chat with it" }).click();
      assert.equal(await visitor.ask("one"), "1 × facts: You said: one");
      await page.getByRole("button", { name: "Options of this chat" }).click();
      await page.getByLabel("tone").check();
      await page.getByLabel("Weight").last().fill("0.5");
      await page.getByRole("button", { name: "Close", exact: true }).click();
      await page.getByTitle("Model: nano with facts and 0.5 × tone, ready").waitFor();
      assert.match(await visitor.ask("two"), /1 × facts: /);
      assert.match(await visitor.lastAnswer(), /0\.5 × tone: /);
      await visitor.go("/fine-tune");
      await page.getByRole("button", { name: "Rename tone" }).click();
      await page.getByLabel("Name of the adapter", { exact: true }).last().fill("voice");
      await page.keyboard.press("Enter");
      await adapters(page).filter({ hasText: "voice" }).waitFor();
      await page.getByRole("button", { name: "Delete facts" }).click();
      await page.getByRole("link", { name: "one" }).first().click();
      await visitor.type("three");
      await page.getByText("The adapter “facts” is no longer on this device.").first().waitFor();
      await page.getByRole("button", { name: "Options of this chat" }).click();
      await page.getByLabel("facts").click();
      await page.getByRole("button", { name: "Close", exact: true }).click();
      assert.equal(await visitor.ask("four"), "0.5 × voice: You said: four");
    },
  },
];
