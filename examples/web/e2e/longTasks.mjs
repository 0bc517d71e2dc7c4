// Measures how long the page is busy at once with many chats: `npm run long-tasks`, or with other numbers
// `npm run long-tasks -- --chats 10000 --messages 2000 --more 3000 --slower 1`. It prints, for each thing a reader
// does, the tasks of the page's thread over 50 ms: of the processor's time, which other programs do not change much,
// and of the clock's. It fails where one had the processor for more than 100 ms. The app is the build in dist.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { launchWithProfile } from "./chromium.mjs";
import { serve } from "./server.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { values } = parseArgs({
  options: {
    app: { type: "string", default: here("../dist") },
    chats: { type: "string", default: "10000" },
    messages: { type: "string", default: "2000" },
    more: { type: "string", default: "3000" },
    slower: { type: "string", default: "1" },
  },
});
const [chats, messages, more, slower] = [values.chats, values.messages, values.more, values.slower].map(Number);

const answer = (index) => `## Answer ${index}

${"Words and *more* words, with [links](https://example.org). ".repeat(9)}

| Planet | Moons |
|---|---|
| Jupiter | ${index} |

\`\`\`go
func answer() int { return ${index} } // as code
\`\`\`

The formula is $x_{${index}} = \\frac{1}{2}$.`;

/** An export of so many chats, of which the newest has so many messages. */
function archive(name, count, long) {
  const messagesOf = (chat, most) =>
    Array.from({ length: most }, (_, index) => ({
      id: `${name}${chat}-${index}`,
      parentId: index === 0 ? null : `${name}${chat}-${index - 1}`,
      role: index % 2 === 0 ? "user" : "assistant",
      content: index % 2 === 0 ? `Question ${index} of ${name} ${chat}` : answer(index),
      status: "done",
      createdAt: index,
    }));
  return JSON.stringify({
    format: "gemwire-chats",
    version: 1,
    conversations: Array.from({ length: count }, (_, chat) => ({
      id: `${name}${chat}`,
      title: `${name} ${chat}`,
      leafId: `${name}${chat}-${(chat === 0 ? long : 4) - 1}`,
      createdAt: count - chat,
      updatedAt: count - chat,
      messages: messagesOf(chat, chat === 0 ? long : 4),
    })),
  });
}

/** What a trace with the category "toplevel" calls a task: few other events, where a minute's work must fit a trace. */
const task = "ThreadControllerImpl::RunTask";

/** The tasks of the page's thread in a trace: how long each took, and how much of the processor it had. */
function tasksOf(trace) {
  const { traceEvents } = JSON.parse(trace.toString());
  const threads = new Map();
  for (const { name, pid, tid, dur = 0, tdur = 0 } of traceEvents) {
    if (name !== task && name !== "thread_name") continue;
    const thread = threads.get(`${pid} ${tid}`) ?? { main: false, tasks: [] };
    threads.set(`${pid} ${tid}`, thread);
    if (name === task) thread.tasks.push({ wall: dur / 1000, busy: tdur / 1000 });
  }
  for (const { name, pid, tid, args } of traceEvents)
    if (name === "thread_name" && args.name === "CrRendererMain") threads.get(`${pid} ${tid}`).main = true;
  return [...threads.values()].filter(({ main }) => main).flatMap(({ tasks }) => tasks);
}

const folder = mkdtempSync(join(tmpdir(), "gemwire-long-tasks-"));
const file = (name, text) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const many = file("many.json", archive("Chat", chats, messages));
const others = file("others.json", archive("Other", more, 4));

const server = await serve({ folder: values.app, model: here("../../../testdata/conformance/nano/nano.gguf") });
// A profile on disk, since a private window's files lie in the memory of another process, where they grow slowly.
const context = await launchWithProfile(join(folder, "profile"), { viewport: { width: 1280, height: 800 } });
const browser = context.browser();
context.setDefaultTimeout(300_000);
const page = await context.newPage();
if (slower > 1) {
  const devtools = await context.newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: slower });
}
let worst = 0;

const longest = (tasks, measure) =>
  tasks
    .map((task) => Math.round(task[measure]))
    .filter((time) => time > 50)
    .sort((a, b) => b - a);

/** Does something, waits until the page is quiet, and prints which tasks were long meanwhile. */
async function measure(name, work) {
  await browser.startTracing(page, { categories: ["toplevel"] });
  const started = Date.now();
  await work();
  const seconds = (Date.now() - started) / 1000;
  await page.waitForTimeout(1500);
  const tasks = tasksOf(await browser.stopTracing());
  const busy = longest(tasks, "busy");
  worst = Math.max(worst, ...busy);
  const words = (times) =>
    times.length === 0 ? "none" : `${times.slice(0, 8)}${times.length > 8 ? ` of ${times.length}` : ""}`;
  console.log(
    `${name.padEnd(42)} ${seconds.toFixed(1).padStart(6)} s  busy ${words(busy)}; wall ` +
      `${words(longest(tasks, "wall"))}`,
  );
}

const rows = page.getByRole("list", { name: "Chats" }).first();
const thread = page.getByRole("region", { name: "Conversation" });
const ready = () =>
  page
    .getByRole("button", { name: /, ready\. Change the model/ })
    .first()
    .waitFor({ state: "attached" });
const importing = async (path, count) => {
  await page.getByLabel("File with chats").setInputFiles(path);
  await page.getByText(`${count.toLocaleString("en")} chats imported.`).waitFor();
};
/** Turns the wheel over a list until it has gone so many pixels. */
const wheel = async (locator, by, times) => {
  await locator.hover();
  for (let i = 0; i < times; i++) {
    await page.mouse.wheel(0, by);
    await page.waitForTimeout(30);
  }
};

await measure("first visit", async () => {
  await page.goto(`${server.origin}/#/settings`);
  await page.getByLabel("File with chats").waitFor({ state: "attached" });
});
await measure(`import of ${chats} chats, one of ${messages} messages`, () => importing(many, chats));
await measure(`visit with ${chats} chats`, async () => {
  await page.goto(`${server.origin}/?again`);
  await rows.getByRole("listitem").first().waitFor();
  await ready();
});
await measure("scrolling the list", () => wheel(rows, 900, 60));
await measure("jumping to the middle and the end of it", async () => {
  for (const part of [0.5, 1, 0])
    await rows.evaluate((list, at) => list.parentElement.scrollTo(0, list.parentElement.scrollHeight * at), part);
});
await measure("searching", async () => {
  await page.getByLabel("Search the chats").pressSequentially("words", { delay: 60 });
  await page.getByText(/chats? found/).waitFor({ state: "attached" });
});
await measure("ending the search", async () => {
  await page.getByLabel("Search the chats").fill("");
  await rows.getByRole("link", { name: /^Chat 0\b/ }).waitFor();
});
await measure(`opening the chat of ${messages} messages`, async () => {
  await rows.getByRole("link", { name: /^Chat 0\b/ }).click();
  await thread.getByRole("heading", { name: `Answer ${messages - 1}` }).waitFor();
});
await measure("scrolling it up", () => wheel(thread, -900, 60));
await measure("jumping to its start and its middle", async () => {
  for (const part of [0, 0.5]) {
    await thread.evaluate((scroller, at) => scroller.scrollTo(0, scroller.scrollHeight * at), part);
    await page.waitForTimeout(1000);
  }
});
await measure("asking in it", async () => {
  const field = page.getByLabel("Message", { exact: true });
  await field.pressSequentially("What color is the sky?", { delay: 40 });
  await field.press("Enter");
  await page.getByRole("button", { name: "Stop the answer" }).waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
});
await measure("a visit that opens it", async () => {
  await page.reload();
  await thread.locator("li").first().waitFor();
  await ready();
});
await measure("leaving it for another chat", async () => {
  await rows.getByRole("link", { name: /^Chat 3\b/ }).click();
  await thread.getByText("Question 0 of Chat 3").waitFor();
});
await measure("deleting a chat", async () => {
  await page.getByRole("button", { name: "Delete Chat 3", exact: true }).click({ force: true });
  await page.getByRole("button", { name: "Undo" }).waitFor();
});
await page.evaluate(() => {
  location.hash = "/settings";
});
await measure(`import of ${more} more chats`, () => importing(others, more));
console.log(`the longest of all: ${worst} ms, of the processor`);
if (worst > 100) process.exitCode = 1;
await context.close();
await server.close();
rmSync(folder, { recursive: true });
