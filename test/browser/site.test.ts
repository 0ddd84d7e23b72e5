// @module-tag tools
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";
import sirv from "sirv";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../built-package.ts";
import { documents, read } from "../docs/code-block.ts";
import { chromiumPath, hasChromium } from "./chromium.ts";

describe("the site that npm run docs builds", () => {
  let site: string;
  let pages: ReadonlyMap<string, string>;
  let server: Server;
  let browser: Browser | undefined;

  beforeAll(async () => {
    site = mkdtempSync(join(tmpdir(), "zarrflow-site-"));
    const typedoc = join(root, "node_modules/typedoc/bin/typedoc");
    await promisify(execFile)(
      process.execPath,
      [typedoc, "--treatValidationWarningsAsErrors", "--out", site],
      {
        cwd: root,
      },
    );
    const names = readdirSync(site, { recursive: true, encoding: "utf8" });
    const html = names.filter((name) => name.endsWith(".html"));
    pages = new Map(html.map((name) => [name, readFileSync(join(site, name), "utf8")]));
    server = createServer(sirv(site));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    if (hasChromium) {
      browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
    }
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    server?.close();
    rmSync(site, { recursive: true, force: true });
  });

  test("has a page for every page of the repository, and for every module", () => {
    const titles = [...pages.values()].map((html) => /<title>(.*?) \| /.exec(html)?.[1]);
    for (const { name } of documents()) {
      if (!name.endsWith(".md") || name === "README.md") continue;
      const [, heading = ""] = /^# (.+?)(?:: .+)?\n/.exec(read(name)) ?? [];
      expect(titles, name).toContain(heading);
    }
    const { exports } = JSON.parse(read("package.json")) as { exports: Record<string, unknown> };
    for (const name of Object.keys(exports).filter((path) => path !== "./package.json")) {
      expect(titles).toContain(join("zarrflow", name));
    }
  });

  test("begins with the README", () => {
    expect(pages.get("index.html")).toContain("A target appears complete or not at all");
  });

  test("has no dead link", () => {
    const dead: string[] = [];
    let count = 0;
    for (const [name, html] of pages) {
      for (const [, link = ""] of html.matchAll(/\s(?:href|src)="([^"]*)"/g)) {
        if (/^[a-z]+:/.test(link)) continue;
        count++;
        const [path = "", anchor = ""] = decodeURI(link).split("#");
        const target = path === "" ? name : join(dirname(name), path);
        const isThere = existsSync(join(site, target));
        const text = pages.get(target);
        if (!isThere || (anchor !== "" && text && !text.includes(` id="${anchor}"`)))
          dead.push(`${name}: ${link}`);
      }
    }
    expect(count).toBeGreaterThan(5000);
    expect(dead).toEqual([]);
  });

  describe.runIf(hasChromium)("in Chromium", () => {
    function openBrowser(): Browser {
      if (!browser) throw new Error("there is no browser");
      return browser;
    }

    const looks = [1280, 390].flatMap((width) =>
      (["light", "dark"] as const).map((scheme) => ({ width, scheme })),
    );
    test.each(looks)(
      "at $width px, $scheme: as wide as the window, without a word on the console",
      async (look) => {
        const { width, scheme } = look;
        const context = await openBrowser().newContext({
          viewport: { width, height: 900 },
          colorScheme: scheme,
        });
        const page = await context.newPage();
        const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
        const wrong: string[] = [];
        page.on("console", (message) => wrong.push(message.text()));
        page.on("pageerror", (error) => wrong.push(`${error.stack}`));
        page.on("requestfailed", (request) => wrong.push(request.url()));
        page.on("request", (request) => {
          if (!request.url().startsWith(address) && !request.url().startsWith("data:"))
            wrong.push(request.url());
        });
        for (const path of [
          "",
          "documents/Coming_from_other_tools.html",
          "documents/View.html",
          "modules/zarrflow.html",
        ]) {
          await page.goto(address + path, { waitUntil: "networkidle" });
          expect(await page.locator("h1").count(), path).toBeGreaterThan(0);
          expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([
            path,
            width,
          ]);
          const light = await page.evaluate(() =>
            /\d+/.exec(getComputedStyle(document.body).backgroundColor)?.map(Number),
          );
          expect(Number(light) > 128).toBe(scheme === "light");
        }
        if (width === 1280)
          await page.locator(".site-menu").getByText("Slice", { exact: true }).first().waitFor();
        expect(wrong).toEqual([]);
        await context.close();
      },
    );
  });
});
