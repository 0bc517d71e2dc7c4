// Visits the built app in Chromium as the containers serve it: nginx with their
// configuration, the list from gemwire-models over a store like Ollama's.
//
//   node docker/test/app.mjs     after examples/web was built; nginx has to be there
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { launch } from "../../examples/web/e2e/chromium.mjs";
import { Visitor } from "../../examples/web/e2e/visitor.mjs";

const root = resolve(import.meta.dirname, "../..");
const app = join(root, "examples/web/dist");
const model = join(root, "gemma4/nano/nano.gguf");
const program = existsSync("/usr/sbin/nginx") ? "/usr/sbin/nginx" : "nginx";

/** writeStore lays out a model as Ollama does, under the name nano:latest. */
async function writeStore(folder) {
  const bytes = await readFile(model);
  const digest = createHash("sha256").update(bytes).digest("hex");
  const manifests = join(folder, "manifests/registry.ollama.ai/library/nano");
  await mkdir(manifests, { recursive: true });
  await mkdir(join(folder, "blobs"));
  await cp(model, join(folder, "blobs", `sha256-${digest}`));
  await writeFile(
    join(manifests, "latest"),
    JSON.stringify({
      layers: [{ mediaType: "application/vnd.ollama.image.model", digest: `sha256:${digest}`, size: bytes.length }],
    }),
  );
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** answers waits until something is served at an address, or its process has ended. */
async function answers(address, child) {
  while (child.exitCode === null) {
    if (
      await fetch(address).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
    await new Promise((ready) => setTimeout(ready, 50));
  }
  throw new Error(`${child.spawnfile} ended with status ${child.exitCode}`);
}

/** serve starts both services in a folder; it returns the app's address and what ends them. */
async function serve(folder) {
  const prefix = join(folder, "prefix"),
    conf = join(folder, "conf"),
    store = join(prefix, "ollama");
  const [web, list] = [await freePort(), await freePort()];
  await mkdir(join(prefix, "tmp"), { recursive: true });
  await writeStore(store);
  await symlink(app, join(prefix, "app"));
  await cp(join(root, "docker/nginx"), conf, { recursive: true });
  await writeFile(join(conf, "listen.conf"), `listen 127.0.0.1:${web};`);
  await writeFile(join(conf, "upstream.conf"), `upstream models { server 127.0.0.1:${list}; }`);
  await chmod(folder, 0o755); // its worker processes have no rights
  const models = join(folder, "gemwire-models");
  execFileSync("go", ["build", "-o", models, "./tools/cmd/gemwire-models"], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, CGO_ENABLED: "0" },
  });
  const stdio = ["ignore", "ignore", "inherit"];
  const children = [
    spawn(models, ["-addr", `127.0.0.1:${list}`, "-store", store], { stdio }),
    spawn(program, ["-p", prefix, "-c", join(conf, "nginx.conf"), "-g", "daemon off;"], { stdio }),
  ];
  const close = () =>
    Promise.all(children.map((child) => child.exitCode === null && (child.kill("SIGTERM"), once(child, "exit"))));
  try {
    await Promise.all([
      answers(`http://127.0.0.1:${list}/models`, children[0]),
      answers(`http://127.0.0.1:${web}/healthz`, children[1]),
    ]);
    execFileSync(models, ["-check", "-addr", `:${list}`], { stdio: "inherit" });
  } catch (error) {
    await close();
    throw error;
  }
  return { origin: `http://localhost:${web}`, close };
}

async function visit(server) {
  const browser = await launch({ adapter: false });
  try {
    const context = await browser.newContext();
    context.setDefaultTimeout(120_000);
    const visitor = new Visitor(context, server);
    const page = await visitor.open();
    assert.equal(await page.evaluate(() => crossOriginIsolated), true, "the page is cross-origin isolated");
    assert.match(await visitor.ask("What is the capital of France?"), /Paris/);
    await visitor.go("#/models");
    await page.getByRole("button", { name: "Show its models" }).click();
    await page.getByRole("button", { name: "Use nano:latest from the server" }).click();
    await page
      .getByRole("button", { name: /nano:latest\s*, ready\. Change the model/ })
      .first()
      .waitFor({ state: "attached" });
    assert.match(await visitor.ask("What is the opposite of hot?"), /cold/);
    assert.deepEqual(visitor.errors, []);
  } finally {
    await browser.close();
  }
}

const folder = await mkdtemp(join(tmpdir(), "gemwire-nginx-"));
try {
  const server = await serve(folder);
  try {
    await visit(server);
  } finally {
    await server.close();
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.log("1 passed, 0 failed");
