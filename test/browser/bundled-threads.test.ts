// @module-tag tools
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";
import { createServer } from "vite";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { create } from "../../src/hierarchy/create/create.ts";
import { root } from "../built-package.ts";
import { blocksOf, read } from "../docs/code-block.ts";
import { packedProject } from "../package/packed-project.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { digestOf } from "../support/consume.ts";
import { bundleByWebpack } from "./bundle-webpack.ts";
import { cdnOf } from "./cdn.ts";
import { chromiumPath, hasChromium } from "./chromium.ts";
import { downloaded } from "./downloaded.ts";
import { ISOLATED } from "./isolated.ts";
import { servePages } from "./page-server.ts";

/** What the guide shows: it must have one block with this text. */
function blockWith(text: string): string {
  const [block, ...others] = blocksOf(read("docs/guides/browser.md")).filter((one) =>
    one.text.includes(text),
  );
  if (block === undefined || others.length > 0) throw new Error(`the guide has not one block with ${text}`);
  return block.text;
}

/** So many bytes that three threads are worth their start: 64 MiB. */
const SHAPE = [64, 512, 512];

const run = promisify(execFile);

/** Runs a command of a package that this repository has, in a folder. */
const runHere = (cwd: string, command: string, ...args: readonly string[]) => {
  const places = [".ci/tools/node_modules", "node_modules"].map((place) =>
    join(root, place, ".bin", command),
  );
  return run(places.find((path) => existsSync(path)) ?? command, args, { cwd });
};

/** Bundles a project as the guide says; returns the folder that is served. */
const BUNDLERS: Readonly<Record<string, (project: string) => Promise<string>>> = {
  async esbuild(project) {
    const [, command = "", ...args] = blockWith("esbuild ").split(" ");
    await runHere(project, command, ...args);
    return "out";
  },
  async Rollup(project) {
    await writeFile(join(project, "rollup.config.js"), blockWith("// rollup.config.js"));
    await runHere(project, "rollup", "--config", "--failAfterWarnings");
    return "out";
  },
  async Vite(project) {
    await writeFile(join(project, "vite.config.js"), blockWith("// vite.config.js"));
    await runHere(project, "vite", "build");
    return "dist";
  },
  async webpack(project) {
    await bundleByWebpack({
      context: project,
      entry: "./page.js",
      output: { path: join(project, "out"), filename: "page.js" },
    });
    return "out";
  },
};

describe.runIf(hasChromium)("a page that registers a worker as the guide says, in Chromium", () => {
  let packed: string;
  let browser: Browser;
  let sha256: string | undefined;
  const temporary = temporaryFolder();
  beforeAll(async () => {
    packed = await packedProject();
    await mkdir(join(packed, "node_modules/@rollup"));
    const plugin = "node_modules/@rollup/plugin-node-resolve";
    await symlink(join(root, "test", plugin), join(packed, plugin));
    const path = join(packed, "data/made.zarr");
    const array = await create(path, { shape: SHAPE, dataType: "int32", chunks: [1, 512, 512] });
    await array.write(
      {},
      Int32Array.from({ length: 64 * 512 * 512 }, (_, i) => i >> 4),
    );
    await array.close();
    sha256 = await digestOf(path);
    browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
    await rm(packed, { recursive: true, force: true });
  });

  /** A project with a page and a worker, whose scripts import zarrflow by the names, or URLs, that `entry` gives. */
  async function writeProject(name: string, entry = (specifier: string) => specifier): Promise<string> {
    const project = join(packed, name);
    await mkdir(project);
    const rechunk = fileURLToPath(new URL("pages/rechunk.mjs", import.meta.url));
    const scripts = {
      "page.js": `${blockWith("registerWorker(")}\nimport "./rechunk.mjs";\n`,
      "zarr-worker.js": blockWith("serveThread();"),
      "rechunk.mjs": await readFile(rechunk, "utf8"),
    };
    for (const [file, text] of Object.entries(scripts)) {
      const named = text.replace(/"(zarrflow[^"]*)"/g, (_, specifier) => JSON.stringify(entry(specifier)));
      await writeFile(join(project, file), named);
    }
    await writeFile(
      join(project, "index.html"),
      '<!doctype html><script type="module" src="./page.js"></script>',
    );
    return project;
  }

  /** Serves a folder with a page. */
  async function served(folder: string): Promise<string> {
    await symlink(join(packed, "data/made.zarr"), join(folder, "made.zarr"));
    const { url, close } = await servePages(folder, { headers: ISOLATED });
    onTestFinished(close);
    return url;
  }

  /** Rechunks in the page of a server, in two workers and the page itself. */
  async function expectThreads(origin: string): Promise<void> {
    const context = await browser.newContext();
    const page = await context.newPage();
    onTestFinished(() => context.close());
    const said: string[] = [];
    let workers = 0;
    page.on("console", (message) => said.push(message.text()));
    page.on("pageerror", (error) => said.push(`${error.stack}`));
    page.on("worker", () => workers++);
    await page.goto(`${origin}/index.html`);
    await page.waitForFunction("globalThis.rechunkToZip !== undefined");
    const url = JSON.stringify(`${origin}/made.zarr`);
    const options = { chunks: [64, 32, 32], maxMemory: 32e6, threads: 3 };
    const outcome = await page.evaluate(`rechunkToZip(${url}, "out.zarr.zip", ${JSON.stringify(options)})`);
    expect(outcome).toMatchObject({ keysWritten: 257, threads: expect.arrayContaining([1, 2]) });
    expect(workers).toBe(2);
    expect(await digestOf(await downloaded(page, temporary.next("out.zarr.zip")))).toBe(sha256);
    // no icon is there, and Vite says that it is connected
    expect(said.filter((text) => !text.includes("404") && !text.startsWith("[vite] connect"))).toEqual([]);
  }

  it.each(Object.entries(BUNDLERS))("bundled by %s, has two workers", async (name, bundle) => {
    const project = await writeProject(name);
    const folder = join(project, await bundle(project));
    if (name !== "Vite") await copyFile(join(project, "index.html"), join(folder, "index.html"));
    await expectThreads(await served(folder));
  });

  it("served by Vite in development, has two workers", async () => {
    const root = await writeProject("development");
    await writeFile(join(root, "vite.config.js"), blockWith("// vite.config.js"));
    await mkdir(join(root, "public"));
    await symlink(join(packed, "data/made.zarr"), join(root, "public/made.zarr"));
    const server = await createServer({
      root,
      logLevel: "error",
      server: { host: "127.0.0.1", port: 0, headers: ISOLATED },
    });
    onTestFinished(() => server.close());
    await server.listen();
    const [url = ""] = server.resolvedUrls?.local ?? [];
    await expectThreads(new URL(url).origin);
  });

  it("from a CDN, has two workers", async () => {
    const cdn = await servePages(packed, {
      headers: { "access-control-allow-origin": "*" },
      answer: cdnOf(packed),
    });
    onTestFinished(() => cdn.close());
    const folder = await writeProject("cdn", (specifier) => {
      const path = specifier === "zarrflow" ? "index" : specifier.replace("zarrflow/", "");
      return `${cdn.url}/node_modules/zarrflow/dist/${path}.js`;
    });
    await expectThreads(await served(folder));
  });
});
