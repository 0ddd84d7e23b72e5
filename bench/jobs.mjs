// Runs the jobs of examples/jobs with zarrflow and with zarrita, over HTTP on this machine: lines, requests and
// milliseconds of each (medians of interleaved runs). Usage: node bench/jobs.mjs [RUNS [MS]]; after `npm run build`. Each
// answer comes MS milliseconds late.
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { makeInput } from "./jobs/input.mjs";

const [RUNS, LATE_MS] = [process.argv[2] ?? 9, process.argv[3] ?? 0].map(Number);
const JOBS = {
  "slice-service": ["sliceService", async (job, url) => (await (await job(url))(request())).arrayBuffer()],
  "map-page": ["mapPixels", (job, url) => job(url, 3)],
  "point-series": ["pointSeries", async (job, url) => Float64Array.from(await job(url, 51.5, -0.1))],
  celsius: ["toCelsius", (job, url, folder) => job(url, folder)],
};
const request = () => new Request("http://localhost/?slice=time=0:24");
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "zarrflow-jobs-"));
await makeInput(join(folder, "data"));
// In a folder where the packages that they import are found.
const modules = join(root, "out/jobs");
await mkdir(modules, { recursive: true });

let requests = 0;
const server = createServer(async ({ url }, response) => {
  requests++;
  const body = await readFile(join(folder, "data", decodeURIComponent(url))).catch(() => undefined);
  if (LATE_MS > 0) await setTimeout(LATE_MS);
  response.writeHead(body === undefined ? 404 : 200, { "content-length": body?.length ?? 0 }).end(body);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${server.address().port}/t2m`;

try {
  const theirs = await readFile(join(root, "bench/jobs/zarrita.mjs"), "utf8");
  console.log("| job | library | lines | requests | ms |\n| --- | --- | --- | --- | --- |");
  for (const [name, [entry, run]] of Object.entries(JOBS)) {
    const ours = await readFile(join(root, `examples/jobs/${name}.ts`), "utf8");
    const sides = {
      zarrflow: { path: join(root, `examples/jobs/${name}.ts`), text: ours },
      zarrita: { path: join(root, "bench/jobs/zarrita.mjs"), text: partOf(theirs, name) },
    };
    for (const side of Object.values(sides))
      Object.assign(side, { job: await jobOf(side.path, entry), times: [] });
    for (let i = 0; i < RUNS; i++) {
      for (const [library, side] of Object.entries(sides)) {
        const target = join(folder, `${name}-${library}-${i}`);
        requests = 0;
        const start = performance.now();
        side.result = await run(side.job, url, target);
        side.times.push(performance.now() - start);
        side.requests = requests;
      }
    }
    const digests = Object.values(sides).map(({ result }) => digestOf(result));
    if (name !== "celsius" && digests[0] !== digests[1]) throw new Error(`${name}: values differ`);
    for (const [library, { text, times, requests }] of Object.entries(sides)) {
      const lines = text.split("\n").filter((line) => line.trim() !== "").length;
      console.log(`| ${name} | ${library} | ${lines} | ${requests} | ${median(times).toFixed(1)} |`);
    }
  }
} finally {
  server.close().closeAllConnections();
  await rm(folder, { recursive: true });
  await rm(modules, { recursive: true });
}

/** The job of a file, with its types removed. */
async function jobOf(path, entry) {
  const { code } = await transform(await readFile(path, "utf8"), { loader: "ts" });
  const module = join(modules, `${createHash("sha256").update(path).digest("hex")}.mjs`);
  await writeFile(module, code);
  return (await import(module))[entry];
}

/** The lines from the comment that names a job to the next such comment. */
function partOf(text, name) {
  const [, part = ""] = text.split(`// ${name}\n`);
  return part.split(/^\/\/ (?:slice-service|map-page|point-series|celsius)$/m)[0];
}

function digestOf(result) {
  const bytes = ArrayBuffer.isView(result) ? new Uint8Array(result.buffer) : new Uint8Array(result ?? 0);
  return createHash("sha256").update(bytes).digest("hex");
}

function median(times) {
  return times.toSorted((a, b) => a - b)[times.length >> 1];
}
