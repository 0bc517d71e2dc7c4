// Takes a picture of every screen in both themes and at a phone's size: node e2e/screenshots.mjs [FOLDER [png]]
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { launch } from "./chromium.mjs";
import { serve } from "./server.mjs";
import { Visitor } from "./visitor.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const png = process.argv[3] === "png";
const folder = process.argv[2] ?? here("out/screens");
mkdirSync(folder, { recursive: true });

const looks = [
  { name: "light", theme: "light", width: 1200, height: 780 },
  { name: "dark", theme: "dark", width: 1200, height: 780 },
  { name: "phone", theme: "light", width: 360, height: 720, touch: true },
];

const browser = await launch();
const server = await serve({ folder: here("../dist-fake"), model: here("../../../gemma4/nano/nano.gguf") });
for (const look of looks) await takeAll(look);
await browser.close();
await server.close();

/** WebP, which Playwright itself does not write, is a fifth of PNG's size. */
async function save(page, name) {
  if (png) return page.screenshot({ path: `${folder}/${name}.png` });
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 40 });
  writeFileSync(`${folder}/${name}.webp`, Buffer.from(data, "base64"));
  await session.detach();
}

async function takeAll({ name, theme, width, height, touch = false }) {
  const visit = { viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce", serviceWorkers: "block", hasTouch: touch, isMobile: touch };
  const context = await browser.newContext(visit);
  context.setDefaultTimeout(30_000);
  const visitor = new Visitor(context, server);
  const take = async (screen) => {
    await visitor.page.waitForTimeout(300);
    await save(visitor.page, `${screen}-${name}`);
  };
  const page = await visitor.open();
  await take("empty");
  await visitor.ask("Name three rivers that cross a border.");
  await visitor.go("/");
  await page.getByText("Ask your own machine.").waitFor();
  await visitor.ask("Plan a week of dinners without meat, please.");
  await visitor.go("/");
  await page.getByText("Ask your own machine.").waitFor();
  await visitor.ask("How does a heat pump work, in short?");
  await page.getByRole("button", { name: "Answer again" }).click();
  await visitor.answered();
  await page.getByRole("region", { name: "Conversation" }).evaluate((element) => element.scrollTo({ top: 0 }));
  await take("chat");
  await page.getByLabel("Images or recordings", { exact: true }).setInputFiles([here("../../../docs/img/web/chat-light.webp")]);
  await visitor.ask("What is this a picture of?");
  await page.getByLabel("Images or recordings", { exact: true }).setInputFiles([here("../public/icons/icon-512.png")]);
  await page.getByRole("list", { name: "Attached" }).waitFor();
  await take("attachments");
  await page.getByRole("button", { name: /^Remove/ }).click();
  await visitor.ask("Its shaft does 2,600 revolutions a minute. How many a second? Go step by step.");
  await page.locator("summary").click();
  await visitor.ask("What is the weather in Vienna?");
  await page.getByRole("button", { name: "Edit the question" }).nth(1).click();
  await take("thinking-tools-edit");
  await page.keyboard.press("Escape");
  await visitor.type("Tell me a bedtime story.");
  await page.locator('li[data-status="streaming"] .prose').filter({ hasText: "blue notebook" }).waitFor();
  await take("streaming");
  await page.keyboard.press("Escape");
  await visitor.answered();
  await page.getByRole("button", { name: "Options of this chat" }).click();
  await take("options");
  await page.getByRole("button", { name: "Close" }).click();
  if (width < 1000) {
    await page.getByRole("button", { name: "Chats and pages" }).click();
    await take("drawer");
    await page.keyboard.press("Escape");
  } else {
    await page.getByLabel("Search the chats").fill("heat");
    await take("search");
    await page.getByLabel("Search the chats").fill("");
  }
  await visitor.go("/models");
  await page.getByLabel("Address", { exact: true }).fill("https://example.org/gemma-4-E4B-it-Q4_K_M.gguf");
  await page.getByRole("button", { name: "Download and keep" }).click();
  await page.getByRole("button", { name: "Does it fit? Gemma 4 E2B, Q4_0" }).click();
  await page.getByText("Fits this device.").waitFor();
  await page.locator("main > div").first().evaluate((element) => element.scrollTo({ top: 0 }));
  await take("models");
  await page.getByRole("heading", { name: "From Hugging Face" }).evaluate((element) => element.scrollIntoView({ block: "start" }));
  await take("models-more");
  await visitor.go("/self-test");
  await page.getByRole("button", { name: "Run the self-test" }).click();
  await page.getByText("Report for a bug report").waitFor();
  await take("self-test");
  await visitor.go("/settings");
  await page.getByRole("heading", { name: "Appearance" }).waitFor();
  await take("settings");
  await page.getByRole("heading", { name: "Device" }).evaluate((element) => element.scrollIntoView({ block: "start" }));
  await take("settings-more");
  await visitor.open("", { ready: false });
  await visitor.page.getByText("gemwire is open in another tab.").waitFor();
  await take("other-tab");
  await context.close();

  for (const [script, screen, text] of [["no-webgpu", "no-webgpu", "This browser gives no way to the GPU."], ["oom", "out-of-memory", "too little memory"]]) {
    const alone = await browser.newContext(visit);
    const broken = new Visitor(alone, server);
    await broken.open("", { script, ready: false });
    await broken.page.getByText(text).waitFor();
    await broken.page.waitForTimeout(300);
    await save(broken.page, `${screen}-${name}`);
    await alone.close();
  }
}
