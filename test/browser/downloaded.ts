import { copyFile, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Page } from "playwright-core";

/** Copies a zip that the page has built (`pages/rechunk.mjs`) to a path on the disk. */
export async function downloaded(page: Page, path: string): Promise<string> {
  await page.evaluate('offer("out.zarr.zip")');
  const download = page.waitForEvent("download");
  await page.getByText("save").click();
  await mkdir(dirname(path), { recursive: true });
  await copyFile(await (await download).path(), path);
  return path;
}
