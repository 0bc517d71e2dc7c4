// Starts `gemwire serve` with this folder and the npm package.
import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const root = resolve(import.meta.dirname, "../..");

// serve starts the server and returns its address, and what ends it.
export async function serve(args) {
  const program = process.env.GEMWIRE ?? join(root, "bin/gemwire");
  const child = spawn(
    program,
    [
      "serve",
      "--addr",
      "127.0.0.1:0",
      "--app",
      `/bench/=${import.meta.dirname}`,
      "--app",
      `/gemwire/=${join(root, "bindings/wasm/npm/dist")}`,
      ...args,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const failed = new Promise((_, reject) => {
    child.once("error", (error) =>
      reject(new Error(`${program} does not start (${error.code}); build it with make build`)),
    );
    child.once("exit", (code) => reject(new Error(`gemwire serve ended with status ${code}`)));
  });
  failed.catch(() => {}); // it also ends when all is done
  const lines = createInterface({ input: child.stdout });
  const [url] = await Promise.race([new Promise((ready) => lines.once("line", (line) => ready([line]))), failed]);
  return { url, close: () => child.kill("SIGINT") };
}
