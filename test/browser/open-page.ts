import { copyFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { build } from "rolldown";
import { expect, onTestFinished } from "vitest";
import { requireBuild } from "../built-package.ts";
import type { DrivenBrowser, DrivenPage } from "./browsers.ts";
import { servePages } from "./page-server.ts";

export interface OpenPageOptions {
  /** A folder whose files are served beside the page. */
  readonly folder?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The script of its workers, at `/worker.js`. */
  readonly worker?: string;
  /** Whether requests may fail: those for keys, or for a script of a worker, that are not there. */
  readonly mayFailToLoad?: boolean;
}

/** What Chromium says of each request, and Firefox of the script of a worker. */
const FAILED_TO_LOAD = /^(Failed to load resource|Error: Loading Worker from .* was blocked)/;

/** An empty page with a script, of a server that ends with the test; nothing may be said on its console. */
export async function openPageOf<P extends DrivenPage>(
  browser: Pick<DrivenBrowser<P>, "newContext">,
  script: string,
  { folder = tmpdir(), headers, worker, mayFailToLoad = false }: OpenPageOptions = {},
): Promise<P> {
  const server = await servePages(folder, {
    ...(headers && { headers }),
    async answer(path) {
      if (path === "/page.js") return { type: "text/javascript", body: script };
      if (path === "/worker.js" && worker !== undefined) return { type: "text/javascript", body: worker };
      return path === "/favicon.ico" ? { type: "image/x-icon", body: "" } : undefined;
    },
  });
  const context = await browser.newContext();
  const page = await context.newPage();
  const said: string[] = [];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(`${error.stack}`));
  onTestFinished(async () => {
    await context.close();
    await server.close();
    expect(said.filter((text) => !mayFailToLoad || !FAILED_TO_LOAD.test(text))).toEqual([]);
  });
  await page.goto(server.url);
  await page.addScriptTag({ type: "module", url: "/page.js" });
  return page;
}

/** Headers of a page that may share memory with its workers. */
export const ISOLATED = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
};

/** Copies a zip that the page has built (`pages/rechunk.mjs`) to a path on the disk. */
export async function downloaded(page: Page, path: string): Promise<string> {
  await page.evaluate('offer("out.zarr.zip")');
  const download = page.waitForEvent("download");
  await page.getByText("save").click();
  await mkdir(dirname(path), { recursive: true });
  await copyFile(await (await download).path(), path);
  return path;
}

/** Bundles a module of `pages`, which imports the built package as a program does, into one script for a page. */
export async function bundlePage(name: string): Promise<string> {
  requireBuild();
  const { output } = await build({
    input: fileURLToPath(new URL(`pages/${name}`, import.meta.url)),
    platform: "browser",
    tsconfig: false,
    // `sideEffects` of this package holds for the modules of `dist`
    treeshake: { moduleSideEffects: [{ test: /[/]test[/]browser[/]pages[/]/, sideEffects: true }] },
    write: false,
    output: { format: "esm", codeSplitting: false },
  });
  return output[0].code;
}
