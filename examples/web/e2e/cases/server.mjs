// A machine that answers instead of the tab: `gemwire serve` with the built-in model on the CPU.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { gemwireServe } from "../gemwireServe.mjs";
import { Visitor } from "../visitor.mjs";

const app = fileURLToPath(new URL("../../dist-fake", import.meta.url));

const key = "a-key-of-the-household";

/** A server on this machine that answers as it is told, and keeps what it was asked. */
async function scripted(answer) {
  const asked = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      if (request.method === "POST") asked.push(JSON.parse(body));
      answer(request, response, asked);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  };
}

/** As OpenAI's API answers to a page of any origin. */
const open = { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*" };

const form = (page) => page.getByRole("form", { name: "Server that answers" });

async function test(page, { url, key: given = "" }) {
  await form(page).getByLabel("Address").fill(url);
  await form(page).getByLabel("API key, if it needs one").fill(given);
  await form(page).getByRole("button", { name: "Test the connection" }).click();
}

async function use(page, model) {
  await page.getByLabel("Model", { exact: true }).selectOption(model);
  await page.getByRole("button", { name: "Let this server answer" }).click();
  await page
    .getByRole("status")
    .filter({ hasText: `${model} on ` })
    .waitFor();
}

export default [
  {
    name: "server: gemwire serve answers instead of the tab, also after a reload, until one click",
    async run(visitor) {
      const server = await visitor.with(gemwireServe("--api-key", key, "--device", "cpu", "--ollama-addr", "off"));
      const page = await visitor.open("#/settings");
      await test(page, { url: server.origin });
      await page.getByText("needs an API key, or refuses this one. Enter its key").waitFor();
      await test(page, { url: server.origin, key });
      await use(page, "nano");

      await page.reload();
      await visitor.go("/");
      const { host } = new URL(server.origin);
      const note = page.getByRole("note", { name: "Who answers" });
      await note.getByText(`nano on ${host} answers. What you write is sent there.`).waitFor();
      await page.getByTitle(`Model: nano on ${host}, on a server`).waitFor();
      assert.match(await visitor.ask("What is the capital of Austria?"), /Vienna/);
      assert.match(await visitor.answers().last().innerText(), new RegExp(`nano on ${host}`));

      await page.getByRole("button", { name: "Options of this chat" }).click();
      await page.getByRole("radio", { name: "Choice" }).check();
      await page.getByLabel("Choices").fill("Graz\nLinz");
      await page.getByText(`${host} looks at the form when you ask.`).waitFor();
      await page.keyboard.press("Escape");
      assert.match(await visitor.ask("What is the capital of Austria?"), /^(Graz|Linz)$/);
      await page.getByRole("button", { name: "Options of this chat" }).click();
      await page.getByRole("radio", { name: "JSON schema" }).check();
      await page.getByLabel("Schema", { exact: true }).fill('{"properties": {"a": {"pattern": "("}}}');
      await page.keyboard.press("Escape");
      await visitor.type("What is the capital of Austria?");
      await page.getByText(/#\/properties\/a\/pattern/).waitFor();
      await page.getByRole("button", { name: "Options of this chat" }).click();
      await page.getByRole("radio", { name: "Free text" }).check();
      await page.keyboard.press("Escape");

      await note.getByRole("button", { name: "Answer in this tab" }).click();
      await visitor.ready();
      assert.equal(await note.count(), 0);
      assert.equal(await visitor.ask("and here"), "You said: and here");
    },
  },
  {
    name: "server: an answer of a server streams, thinks, stops, and takes pictures",
    async run(visitor) {
      let left = false;
      const chunk = (delta, finish = null) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
      const server = await visitor.with(
        scripted((request, response, asked) => {
          if (request.method === "OPTIONS") return response.writeHead(204, open).end();
          if (request.url === "/v1/models")
            return response
              .writeHead(200, { ...open, "Content-Type": "application/json" })
              .end('{"data":[{"id":"big"}]}');
          response.writeHead(200, { ...open, "Content-Type": "text/event-stream" });
          if (asked.length === 1) {
            response.write(chunk({ reasoning_content: "let me see" }));
            response.write(chunk({ content: "one two" }));
            response.on("close", () => (left = true));
            return; // it goes on until the reader stops it
          }
          response.end(chunk({ content: "seen" }) + chunk({}, "stop") + "data: [DONE]\n\n");
        }),
      );
      const page = await visitor.open("#/settings");
      await test(page, { url: `${server.origin}/v1/` });
      await use(page, "big");
      await visitor.go("/");
      await visitor.type("count");
      await visitor.streaming();
      await page.getByText("let me see").first().waitFor({ state: "attached" });
      await page.getByRole("button", { name: "Stop the answer" }).click();
      await page.locator('li[data-status="stopped"]').waitFor();
      assert.equal(await visitor.lastAnswer(), "one two");
      for (let i = 0; i < 100 && !left; i++) await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal(left, true);

      const png = await page.evaluate(async () => {
        const canvas = new OffscreenCanvas(4, 4);
        canvas.getContext("2d").fillRect(0, 0, 2, 2);
        return [...new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())];
      });
      await page
        .getByLabel("Images or recordings")
        .setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: Buffer.from(png) });
      await page.getByRole("button", { name: /Remove .*dot\.png/ }).waitFor();
      assert.equal(await visitor.ask("what is this"), "seen");
      const { messages, stream, model } = server.asked[1];
      assert.equal(stream, true);
      assert.equal(model, "big");
      assert.deepEqual(
        messages.map(({ role }) => role),
        ["user", "assistant", "user"],
      );
      const [image, text] = messages[2].content;
      assert.match(image.image_url.url, /^data:image\/\w+;base64,[A-Za-z0-9+/]{40,}/);
      assert.deepEqual(text, { type: "text", text: "what is this" });
    },
  },
  {
    name: "server: a page that gemwire serve sends offers it, and does not take it by itself",
    async run(visitor) {
      const served = await visitor.with(gemwireServe("--app", app, "--device", "cpu", "--ollama-addr", "off"));
      const reader = new Visitor(visitor.context, served);
      const page = await reader.open();
      assert.equal(await reader.ask("who is there"), "You said: who is there");
      await reader.go("/settings");
      await page.getByText("This page comes from a server that can answer.").waitFor();
      await page.getByRole("button", { name: "Choose this server" }).click();
      await use(page, "nano");
      await reader.go("/");
      assert.match(await reader.ask("What is the capital of France?"), /Paris/);
    },
  },
  {
    name: "server: what keeps a server from answering is said",
    async run(visitor) {
      const page = await visitor.open("#/settings");
      const says = (text) => page.getByText(text).waitFor();
      await test(page, { url: "http://127.0.0.1:9" });
      await says("127.0.0.1:9 does not respond, or does not allow this page.");
      const closed = await visitor.with(scripted((_, response) => response.writeHead(200).end('{"data":[]}')));
      await test(page, { url: closed.origin });
      await says(`gemwire serve --cors ${visitor.server.origin}`);
      const other = await visitor.with(scripted((_, response) => response.writeHead(404, open).end("nothing")));
      await test(page, { url: other.origin });
      await says("is no server with OpenAI's API.");
      await test(page, { url: "http://[" });
      await says("is no address. An address looks like");
      const empty = await visitor.with(
        scripted((request, response) =>
          response.writeHead(200, open).end(request.method === "GET" ? '{"data":[]}' : ""),
        ),
      );
      await test(page, { url: empty.origin });
      await says("The server answers, and has no models.");
    },
  },
];
