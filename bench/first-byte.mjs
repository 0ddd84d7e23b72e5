// Measures when the first bytes of 100 MB arrive from a web server that takes LATENCY ms to answer, and those of the first
// chunk alone: medians of interleaved runs, each in a new process. node bench/first-byte.mjs [LATENCY] [RUNS] [BUILD...]
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

/** Arrays of 100 chunks of 1 MiB, which span all trailing dimensions, a third of them, or one row of the whole array. */
const ARRAYS = {
  frames: { shape: [100, 512, 512], chunks: [1, 512, 512] },
  cubes: { shape: [256, 320, 320], chunks: [64, 64, 64] },
  row: { shape: [64, 640, 640], chunks: [64, 64, 64] },
  wide: { shape: [512, 51_200], chunks: [512, 512] },
};
const READS = ["chunk", "bytes", "chunks", "read"];
/** Output formats of the command, for the first chunk and for all. */
const FORMATS = ["raw", "csv"];
const here = fileURLToPath(import.meta.url);
const [role = "30", ...others] = process.argv.slice(2);

if (role === "serve") await serve(Number(others[0]));
else if (role === "time") await time(...others);
else await compare(Number(role), Number(others[0] ?? 7), others.slice(1));

/** Serves the arrays, with this many milliseconds before each answer. */
async function serve(latency) {
  const { create } = await import("zarrflow");
  const { MemoryStore } = await import("zarrflow/stores/memory");
  const stores = new Map();
  for (const [name, grid] of Object.entries(ARRAYS)) {
    const store = new MemoryStore();
    const array = await create(store, { ...grid, dataType: "float32", codec: "zstd", zarrFormat: "v3" });
    const items = new Float32Array(grid.shape.reduce((a, b) => a * b));
    for (let i = 0; i < items.length; i++) items[i] = Math.random();
    await array.write({}, items);
    await array.close();
    stores.set(name, store);
  }
  const server = createServer((request, response) => {
    const [, name, ...key] = new URL(request.url, "http://a").pathname.split("/");
    setTimeout(async () => {
      const value = await stores.get(name)?.get(key.join("/"));
      if (value === undefined) response.writeHead(404).end();
      else response.writeHead(200, { "content-length": value.length }).end(value);
    }, latency);
  });
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
  process.on("disconnect", () => process.exit());
}

/** Prints the milliseconds until the first and the last bytes of an open array are read. */
async function time(dist, url, name, what) {
  const { openArray, slice } = await import(dist);
  const array = await openArray(`${url}/${name}`);
  const { chunks } = ARRAYS[name];
  const part = slice(array, what === "chunk" ? chunks.map((n) => [0, n]) : {});
  let first;
  const begun = performance.now();
  if (what === "read") await part.read();
  else
    for await (const _ of what === "chunks" ? part.chunks() : part.bytes())
      first ??= performance.now() - begun;
  const all = performance.now() - begun;
  console.log(JSON.stringify({ first: first ?? all, all }));
  process.exit();
}

/** Milliseconds until a process prints its first bytes, and until it ends. Unless `isEnded`, kills it after the first bytes. */
async function printed(args, isEnded) {
  const begun = performance.now();
  const child = spawn(process.execPath, args);
  child.stderr.pipe(process.stderr);
  let first;
  child.stdout.on("data", () => {
    first ??= performance.now() - begun;
    if (!isEnded) child.kill("SIGKILL");
  });
  await once(child, "close");
  return { first, all: performance.now() - begun };
}

async function timed(args) {
  const child = spawn(process.execPath, args);
  child.stderr.pipe(process.stderr);
  let text = "";
  child.stdout.on("data", (piece) => (text += piece));
  await once(child, "close");
  return JSON.parse(text);
}

async function compare(latency, runs, folders) {
  const server = fork(here, ["serve", String(latency)]);
  const [port] = await once(server, "message");
  if (folders.length === 0) folders.push(fileURLToPath(new URL("../dist", import.meta.url)));
  const found = new Map();
  const note = (key, figures) => found.set(key, [...(found.get(key) ?? []), figures]);
  for (let i = 0; i < runs; i++) {
    for (const [name, { chunks }] of Object.entries(ARRAYS)) {
      const url = `http://127.0.0.1:${port}`;
      for (const what of READS)
        for (const folder of folders)
          note(
            `${name} | ${what} | ${folder}`,
            await timed([here, "time", `${folder}/index.js`, url, name, what]),
          );
      for (const format of FORMATS) {
        const chunk = chunks.map((n) => `0:${n}`).join(",");
        for (const [part, region] of Object.entries({ chunk, all: "" }))
          for (const folder of folders) {
            const args = [`${folder}/cli/main.js`, "slice", `${url}/${name}`, "--format", format, "--quiet"];
            const figures = await printed(region ? [...args, "--slice", region] : args, format !== "csv");
            note(`${name} | command, ${format}, ${part} | ${folder}`, figures);
          }
      }
    }
  }
  console.log("| array | read | build | first ms | all ms |\n| --- | --- | --- | --- | --- |");
  for (const [key, rows] of found) {
    const median = (name) => rows.map((row) => row[name]).sort((a, b) => a - b)[Math.floor(rows.length / 2)];
    console.log(`| ${key} | ${median("first").toFixed(0)} | ${median("all").toFixed(0)} |`);
  }
  server.disconnect();
}
