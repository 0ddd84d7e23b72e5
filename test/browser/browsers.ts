import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import puppeteer, { type Handler, type Page } from "puppeteer-core";
import { afterAll, beforeAll, describe } from "vitest";
import { chromiumPath, hasChromium } from "./chromium.ts";

/** What tests in every browser use of a page. */
export interface DrivenPage {
  goto(url: string): Promise<unknown>;
  url(): string;
  addScriptTag(options: { readonly type: string; readonly url: string }): Promise<unknown>;
  evaluate<T>(script: string): Promise<T>;
  waitForFunction(script: string): Promise<unknown>;
  workers(): readonly unknown[];
  on(event: "console", listener: (message: { text(): string }) => void): unknown;
  on(event: "pageerror", listener: (error: Error) => void): unknown;
  on(event: "request", listener: () => void): unknown;
}

/** A browser that is open: each context has storage of its own. */
export interface DrivenBrowser<P = DrivenPage> {
  version(): string;
  newContext(): Promise<{ newPage(): Promise<P>; close(): Promise<void> }>;
  close(): Promise<void>;
}

const firefoxPath = process.env.FIREFOX ?? "/usr/bin/firefox-esr";

/** Whether a Firefox is here; with `REQUIRE_BROWSER=1` there must be one. */
const hasFirefox = existsSync(firefoxPath) || process.env.REQUIRE_BROWSER === "1";

const BROWSERS = [
  { name: "Chromium", path: chromiumPath, isHere: hasChromium, launch: launchChromium },
  { name: "Firefox", path: firefoxPath, isHere: hasFirefox, launch: launchFirefox },
];

/** Tests what holds in each browser; one that is not here is named as the reason why its tests are skipped. */
export function describeInBrowsers(
  title: string,
  tests: (browser: () => DrivenBrowser, name: string) => void,
): void {
  for (const { name, path, isHere, launch } of BROWSERS) {
    describe.runIf(isHere)(`${title}, in ${name}${isHere ? "" : `, which is not at ${path}`}`, () => {
      let browser: DrivenBrowser | undefined;
      beforeAll(async () => {
        browser = await launch();
      });
      afterAll(() => browser?.close());
      tests(() => {
        if (browser === undefined) throw new Error(`${name} is not open`);
        return browser;
      }, name);
    });
  }
}

function launchChromium(): Promise<DrivenBrowser> {
  return chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
}

/** The Firefox of a distribution, which is driven by WebDriver BiDi. */
async function launchFirefox(): Promise<DrivenBrowser> {
  const browser = await puppeteer.launch({ browser: "firefox", executablePath: firefoxPath });
  const version = await browser.version();
  return {
    version: () => version,
    async newContext() {
      const context = await browser.createBrowserContext();
      return { newPage: async () => pageOf(await context.newPage()), close: () => context.close() };
    },
    close: () => browser.close(),
  };
}

function pageOf(page: Page): DrivenPage {
  return {
    goto: (url) => page.goto(url),
    url: () => page.url(),
    addScriptTag: (options) => page.addScriptTag(options),
    evaluate: async <T>(script: string) => (await page.evaluate(script)) as T,
    waitForFunction: (script) => page.waitForFunction(script),
    workers: () => page.workers(),
    on: (event: "console" | "pageerror" | "request", listener: (value: never) => void) =>
      page.on(event, listener as Handler<unknown>),
  };
}
