// @module-tag tools
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import { build as esbuild } from "esbuild";
import { type Browser, chromium } from "playwright-core";
import { rollup } from "rollup";
import { build as vite } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { optimize } from "webpack";
import { packedProject } from "../package/packed-project.ts";
import { bundleByWebpack } from "./bundle-webpack.ts";
import { cdnOf } from "./cdn.ts";
import { chromiumPath, hasChromium } from "./chromium.ts";
import { type PageServer, servePages } from "./page-server.ts";
import { SAMPLE_PART, samplePage, writeSample } from "./sample-array.ts";

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

  it("costs a page no more than it may, from a CDN", () => expectSmall("/read.mjs", 130_600));

  it("costs a page no more than it may, bundled by esbuild into few files", async () => {
    await mkdir(join(project, "small"));
    await writeFile(join(project, "small/page.mjs"), samplePage("zarrflow/read"));
    await esbuildWith("esm", true)(project, "small", "small/page.mjs");
    await expectSmall("/small/page.js", 91_200);
    const files = await readdir(join(project, "small"));
    expect(files.filter((name) => name.endsWith(".js")).length).toBeLessThanOrEqual(12);
  });
});
