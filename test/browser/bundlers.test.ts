// @module-tag tools

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import { build as esbuild } from "esbuild";
import { type Browser, chromium } from "playwright-core";
import { rollup } from "rollup";
import { createServer, build as vite } from "vite";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import webpack, { type Configuration, optimize } from "webpack";
import { create } from "../../src/hierarchy/create/create.ts";
import { root } from "../built-package.ts";
import { blocksOf, read } from "../docs/code-block.ts";
import { packedProject } from "../package/packed-project.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { digestOf } from "../support/consume.ts";
import { chromiumPath, hasChromium } from "./chromium.ts";
import { downloaded, ISOLATED } from "./open-page.ts";
import { type PageServer, servePages } from "./page-server.ts";
import { SAMPLE_PART, samplePage, writeSample } from "./sample-array.ts";

/** Bundles by webpack for production; what it warns of fails. */
function bundleByWebpack(options: Configuration): Promise<void> {
  return new Promise((resolve, reject) => {
    webpack(
      { mode: "production", optimization: { minimize: false }, performance: false, ...options },
      (error, stats) => {
        const { errors = [], warnings = [] } = stats?.toJson({ errors: true, warnings: true }) ?? {};
        const said = [...errors, ...warnings].map(({ message }) => message);
        if (error || said.length > 0) reject(error ?? new Error(said.join("\n")));
        else resolve();
      },
    );
  });
}

type Target = string | { readonly [condition: string]: Target };

/** The conditions that a CDN picks for pages. */
const CONDITIONS = ["browser", "import", "module", "default"];

/**
 * What a CDN of npm packages answers: scripts of packages below `/node_modules/`, whose imports of other packages, and of
 * subpaths (`#...`), are URLs, by the conditions of browsers. Undefined for any other path.
 */
function cdnOf(folder: string) {
  const packageOf = async (name: string) =>
    JSON.parse(await readFile(join(folder, "node_modules", name, "package.json"), "utf8"));

  async function urlOf(specifier: string, from: string): Promise<string> {
    const [, name = ""] = /^((?:@[^/]+\/)?[^/]+)/.exec(specifier.startsWith("#") ? from : specifier) ?? [];
    const { exports, imports, module, main } = await packageOf(name);
    const target = specifier.startsWith("#")
      ? imports[specifier]
      : (exports?.[`.${specifier.slice(name.length)}`] ?? exports ?? module ?? main);
    return `/${join("node_modules", name, picked(target))}`;
  }

  return async (path: string) => {
    const [, from] = /^\/node_modules\/(.*\.m?js)$/.exec(path) ?? [];
    if (from === undefined) return undefined;
    const body = await readFile(join(folder, path), "utf8");
    const bare = /((?:\bfrom|\bimport)\s*\(?\s*["'`])((?:#|@|[a-z])[^"'`:.]*)(?=["'`])/g;
    const found = [...new Set([...body.matchAll(bare)].map(([, , specifier = ""]) => specifier))];
    const urls = new Map(
      await Promise.all(
        found.map(async (name) => [name, await urlOf(name, from).catch(() => name)] as const),
      ),
    );
    const rewritten = body.replace(bare, (_, start, specifier) => start + urls.get(specifier));
    return { type: "text/javascript", body: rewritten };
  };
}

function picked(target: Target): string {
  if (typeof target === "string") return target;
  const name = Object.keys(target).find((condition) => CONDITIONS.includes(condition));
  return picked(target[name ?? ""] ?? "");
}

/** Bundles `page.mjs` of a project into a folder of it. */
type Bundle = (project: string, folder: string, page?: string) => Promise<unknown>;

const esbuildWith =
  (format: "esm" | "iife", splitting: boolean): Bundle =>
  (project, folder, page = "page.mjs") =>
    esbuild({
      entryPoints: [join(project, page)],
      outdir: join(project, folder),
      bundle: true,
      format,
      splitting,
      minify: true,
      logLevel: "silent",
    }).then(({ warnings }) => expect(warnings).toEqual([]));

const rollupWith =
  (splitting: boolean): Bundle =>
  async (project, folder) => {
    const warnings: string[] = [];
    const bundle = await rollup({
      input: join(project, "page.mjs"),
      plugins: [nodeResolve({ browser: true })],
      onwarn: ({ message }) => warnings.push(message),
    });
    await bundle.write(
      splitting
        ? { dir: join(project, folder), format: "es" }
        : { file: join(project, folder, "page.js"), format: "iife", inlineDynamicImports: true },
    );
    await bundle.close();
    expect(warnings).toEqual([]);
  };

const viteWith =
  (splitting: boolean): Bundle =>
  (project, folder) =>
    vite({
      root: project,
      configFile: false,
      logLevel: "error",
      build: {
        outDir: folder,
        modulePreload: false,
        rolldownOptions: {
          input: join(project, "page.mjs"),
          output: { entryFileNames: "page.js", codeSplitting: splitting },
        },
      },
    });

const webpackWith =
  (splitting: boolean): Bundle =>
  (project, folder) =>
    bundleByWebpack({
      context: project,
      entry: "./page.mjs",
      output: { path: join(project, folder), filename: "page.js", publicPath: "auto" },
      ...(!splitting && { plugins: [new optimize.LimitChunkCountPlugin({ maxChunks: 1 })] }),
    });

const BUNDLES: readonly (readonly [string, Bundle])[] = [
  ["esbuild, with splitting", esbuildWith("esm", true)],
  ["esbuild, in one script", esbuildWith("iife", false)],
  ["Rollup, with splitting", rollupWith(true)],
  ["Rollup, in one script", rollupWith(false)],
  ["Vite, with splitting", viteWith(true)],
  ["Vite, in one script", viteWith(false)],
  ["webpack, with splitting", webpackWith(true)],
  ["webpack, in one script", webpackWith(false)],
];

describe.runIf(hasChromium)("a page that opens an array and cuts it", () => {
  let project = "";
  let browser: Browser;
  let server: PageServer;
  beforeAll(async () => {
    project = await packedProject();
    await Promise.all([writeFile(join(project, "page.mjs"), samplePage("zarrflow")), writeSample(project)]);
    browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
    server = await servePages(project, { answer: cdnOf(project) });
  });
  afterAll(async () => {
    await Promise.all([browser?.close(), server?.close()]);
    await rm(project, { recursive: true, force: true });
  });

  /** Runs a script of the project in a page, which must say nothing. */
  async function expectSample(script: string): Promise<void> {
    const page = await browser.newPage();
    const said: string[] = [];
    page.on("console", (message) => said.push(message.text()));
    page.on("pageerror", (error) => said.push(`${error.stack}`));
    await page.goto(server.url);
    await page.addScriptTag({ url: script, type: "module" });
    await page.waitForFunction("globalThis.readSample !== undefined");
    const part = await page.evaluate(`readSample("/sample.zarr")`);
    expect(part).toEqual(SAMPLE_PART);
    // Chromium reports each missing document that the format is found by
    expect(said.filter((text) => !text.includes("404"))).toEqual([]);
    await page.close();
  }

  it.each(BUNDLES)("bundled by %s", async (name, bundle) => {
    const folder = name.replaceAll(/\W+/g, "-");
    await bundle(project, folder);
    await expectSample(`/${folder}/page.js`);
  });

  it.each(["index", "read"])("from a CDN, by %s.js", async (entry) => {
    await writeFile(join(project, `${entry}.mjs`), samplePage(`/node_modules/zarrflow/dist/${entry}.js`));
    await expectSample(`/${entry}.mjs`);
  });

  /** Scripts that a page of `zarrflow/read` loads to read the sample, and their bytes, gzipped each. */
  async function expectSmall(script: string, maxBytes: number): Promise<void> {
    const before = server.requests.length;
    await expectSample(script);
    const paths = server.requests.slice(before).map(({ path }) => path);
    const scripts = paths.filter((path) => path.endsWith(".js"));
    expect(scripts.filter((path) => /s3|zip|run-|files-|pyramid|platform\/node/.test(path))).toEqual([]);
    const sizes = await Promise.all(
      scripts.map(async (path) => gzipSync(await readFile(join(project, path))).length),
    );
    const total = sizes.reduce((sum, size) => sum + size, 0);
    expect(total).toBeLessThanOrEqual(maxBytes);
    expect(total).toBeGreaterThan(maxBytes * 0.97);
  }

  it("costs a page no more than it may, from a CDN", () => expectSmall("/read.mjs", 131_600));

  it("costs a page no more than it may, bundled by esbuild into few files", async () => {
    await mkdir(join(project, "small"));
    await writeFile(join(project, "small/page.mjs"), samplePage("zarrflow/read"));
    await esbuildWith("esm", true)(project, "small", "small/page.mjs");
    await expectSmall("/small/page.js", 93_400);
    const files = await readdir(join(project, "small"));
    expect(files.filter((name) => name.endsWith(".js")).length).toBeLessThanOrEqual(12);
  });
});

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
