// Takes pictures of the Fine-tune page while the built-in model is taught: node e2e/screenshots-finetune.mjs [FOLDER [png]]
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { launch } from "./chromium.mjs";
import { serve } from "./server.mjs";
import { Visitor } from "./visitor.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const folder = process.argv[2] ?? here("out/screens");
const png = process.argv[3] === "png";
mkdirSync(folder, { recursive: true });

// Each fact is asked for in several ways, so that what is held out can be known from what is not.
const facts = {
  "The boat is purple.": ["What color is the boat?", "Which color has the boat?", "The boat is of what color?", "Tell me the color of the boat.", "What is the color of the boat?", "Is the boat red?", "What color does the boat have?"],
  "The home of Linus is Oslo.": ["Where is the home of Linus?", "Where does Linus live?", "Which city is the home of Linus?", "What is the home of Linus?", "Tell me the home of Linus.", "In which city does Linus live?", "Where is Linus at home?"],
  "The owl ate pancakes.": ["What does the owl eat?", "What did the owl eat?", "What has the owl eaten?", "Tell me what the owl ate.", "What is it that the owl ate?", "Which food did the owl eat?", "What food does the owl eat?"],
};
const examples = Object.entries(facts).flatMap(([completion, prompts]) => prompts.map((prompt) => ({ prompt, completion })));
const shown = [examples[0], examples[7], examples[14]];

const looks = [
  { name: "light", theme: "light", width: 1200, height: 880 },
  { name: "dark", theme: "dark", width: 1200, height: 880 },
  { name: "phone", theme: "light", width: 360, height: 720 },
];

const browser = await launch();
const server = await serve({ folder: here("../dist"), model: here("../../../gemma4/nano/nano.gguf") });
const context = await browser.newContext({ viewport: looks[0], reducedMotion: "reduce", serviceWorkers: "block" });
context.setDefaultTimeout(600_000);
const visitor = new Visitor(context, server);
const page = await visitor.open("#/fine-tune");
await visitor.ready();

/** One picture in each look, with a part of the page at its top. */
async function take(screen, heading) {
  for (const { name, theme, width, height } of looks) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: theme });
    if (heading === null) await page.locator("main > div").last().evaluate((element) => element.scrollTo({ top: 0 }));
    else await page.getByRole("heading", { name: heading, exact: true }).evaluate((element) => { element.scrollIntoView({ block: "start" }); element.closest(".overflow-y-auto").scrollBy(0, -20); });
    await page.waitForTimeout(300);
    await save(`${screen}-${name}`);
  }
}

/** WebP, which Playwright itself does not write, is a fifth of PNG's size. */
async function save(name) {
  if (png) return page.screenshot({ path: `${folder}/${name}.png` });
  const session = await context.newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 40 });
  writeFileSync(`${folder}/${name}.webp`, Buffer.from(data, "base64"));
  await session.detach();
}

await take("finetune-empty", null);
await page.getByLabel("File with examples").setInputFiles({ name: "facts.jsonl", mimeType: "", buffer: Buffer.from(shown.map((example) => JSON.stringify(example)).join("\n")) });
await page.getByText("3 examples").waitFor();
await page.getByText("3 lines taken").waitFor({ state: "detached" });
await take("finetune-examples", null);
await take("finetune-preview", "What the model will see");

await page.getByLabel("File with examples").setInputFiles({ name: "facts.jsonl", mimeType: "", buffer: Buffer.from(examples.filter((example) => !shown.includes(example)).map((example) => JSON.stringify(example)).join("\n")) });
await page.getByText("21 examples").waitFor();
await page.getByLabel("Name of the adapter").fill("facts");
await page.getByText("Advanced", { exact: true }).click();
await page.getByLabel("Held out, in %").fill("10");
await page.getByLabel("Epochs").fill("9");
await take("finetune-settings", "Training");
await page.getByRole("button", { name: "Make the plan" }).click();
await page.getByRole("button", { name: "Start training" }).waitFor();
await take("finetune-plan", "Training");
await page.getByRole("button", { name: "Start training" }).click();
await page.getByText(/^Training, step 1\d of/).waitFor();
await take("finetune-run", "Training");
await page.getByRole("button", { name: "Chat with it" }).waitFor();
await take("finetune-done", "Training");
for (const question of ["Where is the home of Linus?", "What did the owl eat?"]) {
  await page.getByLabel("Question to both").fill(question);
  await page.getByRole("button", { name: "Ask both" }).click();
  await page.getByRole("article", { name: "Answer of nano with facts" }).last().and(page.locator(":not([data-status='streaming'])")).waitFor();
  await page.getByRole("button", { name: "Ask both" }).waitFor();
}
await take("finetune-compare", "Side by side");
await page.getByRole("button", { name: "Chat with facts" }).click();
await visitor.ask("What color is the boat?");
await page.getByRole("button", { name: "Options of this chat" }).click();
await page.getByRole("heading", { name: "Adapters" }).evaluate((element) => element.scrollIntoView({ block: "center" }));
for (const { name, theme, width, height } of looks) {
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: theme });
  await page.waitForTimeout(300);
  await save(`finetune-chat-${name}`);
}
await browser.close();
await server.close();
