import { tmpdir } from "node:os";
import { expect, onTestFinished } from "vitest";
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
