// Opens an array in a page of Chromium and reads it with zarrflow and with zarrita, from one server on this machine: medians
// of interleaved runs, each in a new page. Usage: node bench/browser.mjs [RUNS [MS]]; after `npm run build`. Each answer comes MS
// milliseconds late. CHROMIUM names the browser.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { create } from "zarrflow";

const [RUNS, LATE_MS] = [process.argv[2] ?? 9, process.argv[3] ?? 0].map(Number);
const SHAPE = [64, 256, 512];
const ITEMS = SHAPE.reduce((product, n) => product * n);
const DATA = {
  "v3, zstd": { zarrFormat: "v3", codec: "zstd:3" },
  "v2, blosc with LZ4": { zarrFormat: "v2", codec: "blosc" },
};
const root = fileURLToPath(new URL("..", import.meta.url));

const PAGES = {
  zarrflow: `
import { openArray, slice } from "zarrflow/read";
globalThis.openIt = openArray;
globalThis.readFirst = (array) => slice(array, [3]).read();
globalThis.readAll = (array) => slice(array).read();`,
  zarrita: `
import { FetchStore, get, open } from "zarrita";
globalThis.openIt = (url) => open(new FetchStore(url), { kind: "array" });
globalThis.readFirst = (array) => get(array, [3, null, null]);
globalThis.readAll = (array) => get(array);`,
};

const folder = await mkdtemp(join(tmpdir(), "zarrflow-bench-"));
for (const [i, options] of Object.values(DATA).entries()) {
  const array = await create(join(folder, `data${i}`), {
    shape: SHAPE,
    dataType: "float32",
    chunks: [8, 128, 128],
    ...options,
  });
  const items = Float32Array.from({ length: ITEMS }, (_, k) =>
    Math.round(Math.sin(k / 5000) * 1000 + (k % 17)),
  );
  await array.write({}, items);
  await array.close();
}
for (const [name, script] of Object.entries(PAGES)) {
  await build({
    stdin: { contents: script, resolveDir: root, sourcefile: `${name}.js` },
    outdir: join(folder, name),
    entryNames: "page",
    bundle: true,
    format: "esm",
    splitting: true,
    minify: true,
  });
}

let requests = [];
const server = createServer(async (request, response) => {
  const path = decodeURIComponent(new URL(request.url, "http://server").pathname);
  const body = path === "/" ? "<!doctype html>" : await readFile(join(folder, path)).catch(() => undefined);
  const isScript = extname(path) === ".js";
  requests.push({ isScript, bytes: body === undefined ? 0 : isScript ? gzipSync(body).length : body.length });
  const type = path === "/" ? "text/html" : isScript ? "text/javascript" : "application/octet-stream";
  if (LATE_MS > 0) await new Promise((resolve) => setTimeout(resolve, LATE_MS));
  response.writeHead(body === undefined ? 404 : 200, {
    "content-type": type,
    "content-length": body?.length ?? 0,
  });
  response.end(body);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});

async function measure(name, data) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const heap = async () => {
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize, backingStorageSize = 0 } = await session.send("Runtime.getHeapUsage");
    return usedSize + backingStorageSize;
  };
  await page.goto(origin);
  const before = await heap();
  requests = [];
  const times = await page.evaluate(
    async ([script, url, items]) => {
      const start = performance.now();
      await import(script);
      const array = await openIt(url);
      const part = await readFirst(array);
      const first = performance.now() - start;
      const whole = await readAll(array);
      const all = performance.now() - start;
      if (part.data.length * 64 !== items || whole.data.length !== items) throw new Error("wrong lengths");
      let sum = 0;
      for (let i = 0; i < whole.data.length; i += 997) sum += whole.data[i];
      globalThis.kept = array;
      return { first, all, sum };
    },
    [`${origin}/${name}/page.js`, `${origin}/${data}`, ITEMS],
  );
  const scripts = requests.filter(({ isScript }) => isScript);
  const others = requests.filter(({ isScript }) => !isScript);
  const bytesOf = (list) => list.reduce((total, { bytes }) => total + bytes, 0);
  const measured = {
    ...times,
    scriptBytes: bytesOf(scripts),
    scripts: scripts.length,
    dataBytes: bytesOf(others),
    dataRequests: others.length,
    heap: (await heap()) - before,
  };
  await context.close();
  return measured;
}

try {
  for (const [i, title] of Object.keys(DATA).entries()) {
    const runs = { zarrflow: [], zarrita: [] };
    for (let run = 0; run < RUNS; run++)
      for (const name of Object.keys(PAGES)) runs[name].push(await measure(name, `data${i}`));
    if (runs.zarrflow[0].sum !== runs.zarrita[0].sum) throw new Error("the values differ");
    console.log(`${title}, ${RUNS} runs each:`);
    for (const [name, all] of Object.entries(runs)) {
      const median = (key) => all.map((one) => one[key]).sort((a, b) => a - b)[RUNS >> 1];
      console.log(
        [
          name,
          `first ${median("first").toFixed(0)} ms`,
          `all ${median("all").toFixed(0)} ms`,
          `scripts ${(median("scriptBytes") / 1000).toFixed(1)} kB gzipped in ${median("scripts")} files`,
          `data ${(median("dataBytes") / 1e6).toFixed(2)} MB in ${median("dataRequests")} requests`,
          `heap ${(median("heap") / 1e6).toFixed(2)} MB more after`,
        ].join(" | "),
      );
    }
  }
} finally {
  await browser.close();
  server.close();
  await rm(folder, { recursive: true });
}
