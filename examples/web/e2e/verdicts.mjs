// What one browser profile has found out about the kernels, for the profiles of later cases: each would check them for
// seconds. The first case over the engine checks them itself.

/** Takes the verdicts out of a page's profile, without those of the self-test. */
export async function takeVerdicts(page) {
  return page.evaluate(async () => {
    const root = await navigator.storage.getDirectory();
    const folder = await (await root.getDirectoryHandle("gemwire")).getDirectoryHandle("verdicts");
    const files = {};
    for await (const [name, handle] of folder.entries()) {
      const verdict = JSON.parse(await (await handle.getFile()).text());
      files[name] = JSON.stringify({ ...verdict, ops: [] });
    }
    return files;
  });
}

/** Puts verdicts into a profile before the app starts in it. */
export async function putVerdicts(context, origin, files) {
  const page = await context.newPage();
  await page.goto(`${origin}/icons/gem.svg`);
  await page.evaluate(async (files) => {
    const root = await navigator.storage.getDirectory();
    const home = await root.getDirectoryHandle("gemwire", { create: true });
    const folder = await home.getDirectoryHandle("verdicts", { create: true });
    for (const [name, text] of Object.entries(files)) {
      const out = await (await folder.getFileHandle(name, { create: true })).createWritable();
      await out.write(text);
      await out.close();
    }
  }, files);
  await page.close();
}
