// Starts the real `gemwire serve`, as a reader's own machine would run it.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The binary: bin/gemwire, or what GEMWIRE names. */
export const program = process.env.GEMWIRE ?? fileURLToPath(new URL("../../../bin/gemwire", import.meta.url));

/** gemwireServe starts it on a free port and returns its first address, and what ends it. */
export async function gemwireServe(...args) {
  const child = spawn(program, ["serve", "--addr", "127.0.0.1:0", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const failed = new Promise((_, reject) => {
    child.once("error", (error) =>
      reject(new Error(`${program} does not start (${error.code}); build it with make build`)),
    );
    void ended.then((code) => reject(new Error(`gemwire serve ended with status ${code}: ${said}`)));
  });
  failed.catch(() => undefined); // it also ends when all is done
  const origin = await Promise.race([
    new Promise((resolve) => createInterface({ input: child.stdout }).once("line", resolve)),
    failed,
  ]);
  return {
    origin: origin.replace(/\/$/, ""),
    close: () => {
      child.kill("SIGINT");
      return ended;
    },
  };
}
