// Where the server is, and what it is asked.
import { readFileSync } from "node:fs";

const address = process.env.GEMWIRE_SERVER;
if (!address) throw new Error("GEMWIRE_SERVER names the server's address");

export const url = address.replace(/\/$/, "");
export const model = "nano";
export const question = "What is the capital of France?";
export const paris = "Paris is the capital of France.";

const cases = new URL("../../../../testdata/conformance/nano/", import.meta.url);
export const picture = readFileSync(new URL("scene0.png", cases));
