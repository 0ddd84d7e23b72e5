import { tmpdir } from "node:os";
import type { Browser, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { servePages } from "./page-server.ts";

export interface OpenPageOptions {
  /** A folder whose files are served beside the page. */
  readonly folder?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The script of its workers, at `/worker.js`. */
  readonly worker?: string;
  /** Whether requests may fail, of which Chromium tells: those for keys that are not there. */
  readonly mayFailToLoad?: boolean;
}

/** An empty page with a script, of a server that ends with the test; nothing may be said on its console. */
export async function openPageOf(
  browser: Browser,
  script: string,
  { folder = tmpdir(), headers, worker, mayFailToLoad = false }: OpenPageOptions = {},
): Promise<Page> {
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
  page.on("console", (message) => {
    const text = message.text();
    if (!mayFailToLoad || !text.startsWith("Failed to load resource")) said.push(text);
  });
  page.on("pageerror", (error) => said.push(`${error.stack}`));
  onTestFinished(async () => {
    await context.close();
    await server.close();
    expect(said).toEqual([]);
  });
  await page.goto(server.url);
  await page.addScriptTag({ type: "module", url: "/page.js" });
  return page;
}
