// The looks in which each screen is pictured, and the camera.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const looks = [
  { name: "light", theme: "light", width: 1200, height: 780 },
  { name: "dark", theme: "dark", width: 1200, height: 780 },
  { name: "phone", theme: "light", width: 360, height: 720, touch: true },
];

/** What a browser's context needs for a look. */
export const settings = ({ theme, width, height, touch = false }) => ({
  viewport: { width, height },
  colorScheme: theme,
  reducedMotion: "reduce",
  serviceWorkers: "block",
  hasTouch: touch,
  isMobile: touch,
});

/** A file of the conformance cases: an image, or a recording. */
export const sample = (name) =>
  fileURLToPath(new URL(`../../../../testdata/conformance/nano/${name}`, import.meta.url));

/** Writes a picture of what the page shows. WebP, which Playwright itself does not write, is a fifth of PNG's size. */
export async function save(page, folder, name) {
  await page.waitForTimeout(300);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 40 });
  writeFileSync(`${folder}/${name}.webp`, Buffer.from(data, "base64"));
  await session.detach();
}
