// Where the server is, and what it is asked.
import { readFileSync } from "node:fs";

const address = process.env.GEMWIRE_SERVER;
if (!address) throw new Error("GEMWIRE_SERVER names the server's address");

export const url = address.replace(/\/$/, "");
export const model = "nano";
export const question = "What is the capital of France?";

// Every way to ask gives the model's words, which differ from edition to edition.
const reply = await fetch(`${url}/v1/chat/completions`, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ model, temperature: 0, messages: [{ role: "user", content: question }] }),
});
/** @type {string} */
export const paris = (await reply.json()).choices[0].message.content;
if (!paris.includes("Paris")) throw new Error(paris);

const cases = new URL("../../../../testdata/conformance/nano/", import.meta.url);
export const picture = readFileSync(new URL("scene0.png", cases));
