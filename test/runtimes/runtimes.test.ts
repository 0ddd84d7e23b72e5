// @module-tag tools
import { execFile } from "node:child_process";
import { copyFile, mkdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PageServer, servePages } from "../browser/page-server.ts";
import { SAMPLE_PART, writeSample } from "../browser/sample-array.ts";
import { root } from "../built-package.ts";
import { packedProject } from "../package/packed-project.ts";
import { ACCESS_KEY, BUCKET, type S3Server, SECRET_KEY, serveBucket } from "../stores/s3-server.ts";

const run = promisify(execFile);

/** A folder where Deno, Bun and miniflare are installed; `.ci/runtimes.sh` makes one. */
const installed = process.env.ZARRFLOW_RUNTIMES ?? "";
if (installed === "" && process.env.REQUIRE_RUNTIMES === "1") {
  throw new Error("REQUIRE_RUNTIMES is set, but ZARRFLOW_RUNTIMES names no folder");
}

const RUNTIMES: Readonly<Record<string, readonly string[]>> = {
  Node: [process.execPath],
  Deno: [join(installed, "node_modules/.bin/deno"), "run", "--allow-all", "--no-lock"],
  Bun: [join(installed, "node_modules/.bin/bun"), "run"],
};

/** Item (time, y, x) of what `flows.mjs` makes. */
const itemOf = (time: number, y: number, x: number) => Math.fround(((time * 20 + y) * 30 + x) / 7);
const CUT = [3, 23].flatMap((time) => [28, 29].map((x) => itemOf(time, 7, x)));

describe.runIf(installed !== "")("the packed package in other runtimes", () => {
  let project = "";
  let server: PageServer;
  let bucket: S3Server;
  let ofNode: string[] = [];
  beforeAll(async () => {
    project = await packedProject();
    await writeSample(project);
    for (const name of ["flows.mjs", "worker.mjs"]) {
      await copyFile(join(root, "test/runtimes", name), join(project, name));
    }
    [server, bucket] = await Promise.all([servePages(project), serveBucket()]);
    // the worker reads what it writes, too
    ofNode = (await flowsIn("Node", project)).digests;
    expect(ofNode).toHaveLength(4);
    expect(new Set(ofNode).size).toBe(1);
  });
  afterAll(async () => {
    await Promise.all([server?.close(), bucket?.close()]);
    await rm(project, { recursive: true, force: true });
  });

  async function flowsIn(name: string, folder: string) {
    const [program = "", ...options] = RUNTIMES[name] ?? [];
    const place = [folder, `${server.url}/sample.zarr`];
    const { stdout, stderr } = await run(program, [...options, "flows.mjs", ...place], { cwd: project });
    expect(stderr).toBe("");
    return JSON.parse(stdout);
  }

  it.each(Object.keys(RUNTIMES))("flows in %s give what they must, and the digests of Node", async (name) => {
    const folder = join(project, `of-${name}`);
    await mkdir(folder);
    const { digests, ...report } = await flowsIn(name, folder);
    expect(report).toEqual({
      chunks: [48, 5, 6],
      items: CUT,
      served: SAMPLE_PART.items,
      keysVerified: 7,
      chunksWritten: 20,
      missing: "not-found",
      answered: "array",
    });
    expect(digests).toEqual(ofNode);
  });

  it("a worker of Cloudflare's runtime answers with a part of a zip on a web server, and in S3", async () => {
    const { outputFiles } = await build({
      entryPoints: [join(project, "worker.mjs")],
      bundle: true,
      format: "esm",
      conditions: ["workerd", "browser"],
      loader: { ".wasm": "copy" },
      outdir: project,
      write: false,
    });
    bucket.objects.set("series.zarr.zip", await readFile(join(project, "series.zarr.zip")));
    const { Miniflare } = createRequire(join(installed, "package.json"))("miniflare");
    const worker = new Miniflare({
      modulesRoot: project,
      modules: outputFiles
        .map(({ path, contents }) => {
          const type = path.endsWith(".wasm") ? "CompiledWasm" : "ESModule";
          return { type, path, contents };
        })
        .sort((a, b) => b.type.localeCompare(a.type)),
      compatibilityDate: "2026-01-01",
      host: "127.0.0.1",
      bindings: {
        url: server.url,
        endpoint: bucket.endpoint,
        bucket: BUCKET,
        accessKeyId: ACCESS_KEY,
        secretAccessKey: SECRET_KEY,
      },
    });
    try {
      for (const path of ["/http", "/s3"]) {
        const response = await worker.dispatchFetch(`http://worker${path}`);
        const body = await response.arrayBuffer();
        expect([response.status, ...new Float32Array(body)], path).toEqual([200, ...CUT]);
      }
      expect(bucket.requests.some(({ headers }) => headers.range?.startsWith("bytes="))).toBe(true);
      const ask = (key: string): Promise<Response> => worker.dispatchFetch(`http://worker/served/${key}`);
      const documents = await Promise.all([ask("zarr.json"), ask("zarr.json")]);
      expect(documents.map(({ status }) => status)).toEqual([200, 200]);
      const chunks = ["c/0/0/0", "c/1/0/0", "c/1/0/0", "c/5/3/4"];
      const responses = await Promise.all(chunks.map(ask));
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      for (const response of responses) expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(20);
      expect((await ask("c/6/0/0")).status).toBe(404);
    } finally {
      await worker.dispose();
    }
  });
});
