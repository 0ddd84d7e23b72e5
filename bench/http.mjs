// Opens and slices an array on a web server that takes LATENCY ms to answer, with zarrflow and with zarrita: medians of
// interleaved runs of whole processes. Their bytes are compared. node bench/http.mjs [LATENCY] [RUNS]
import { fork, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import sirv from "sirv";

const SHAPE = [512, 128, 256];
const REGION = [
  [0, 512],
  [32, 64],
  [64, 128],
];
const [role = "30", ...others] = process.argv.slice(2);

if (role === "serve") serve(...others);
else if (role === "zarrita") await sliceByZarrita(...others);
else await compare(Number(role), Number(others[0] ?? 7));

/** Serves a folder, with this many milliseconds before each answer. Answers a message with the requests and bytes since the last. */
function serve(folder, latency) {
  const files = sirv(folder, { etag: true, dotfiles: true });
  let counts = { requests: 0, bytes: 0 };
  const server = createServer((request, response) => {
    counts.requests++;
    const write = response.write.bind(response);
    response.write = (piece, ...rest) => {
      counts.bytes += piece.length;
      return write(piece, ...rest);
    };
    setTimeout(files, Number(latency), request, response, () => response.writeHead(404).end());
  });
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
  process.on("message", () => {
    process.send(counts);
    counts = { requests: 0, bytes: 0 };
  });
  process.on("disconnect", () => process.exit());
}

async function sliceByZarrita(url, wanted) {
  const { FetchStore, get, open, root, slice } = await import("zarrita");
  const array = await open(root(new FetchStore(url)), { kind: "array" });
  if (wanted === "open") return;
  const { data } = await get(
    array,
    REGION.map(([from, to]) => slice(from, to)),
  );
  process.stdout.write(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}

async function makeArray(folder) {
  const { create } = await import("zarrflow");
  const array = await create(folder, {
    shape: SHAPE,
    chunks: [1, 128, 256],
    dataType: "float32",
    codec: "blosc",
    zarrFormat: "v3",
  });
  const frame = new Float32Array(128 * 256);
  for (let t = 0; t < SHAPE[0]; t++) {
    for (let i = 0; i < frame.length; i++) frame[i] = 280 + 20 * Math.sin(i / 3000 + t / 50) + Math.random();
    await array.write([[t, t + 1]], frame);
  }
  await array.close();
}

/** Wall seconds, processor seconds and peak MiB of a process, and the digest of its output. */
async function run(args) {
  const started = performance.now();
  const child = spawn("/usr/bin/time", ["-f", "%U %S %M", process.execPath, ...args]);
  const hash = createHash("sha256");
  let figures = "";
  child.stdout.on("data", (piece) => hash.update(piece));
  child.stderr.on("data", (piece) => (figures += piece));
  const [status] = await once(child, "close");
  const wall = (performance.now() - started) / 1000;
  if (status !== 0) throw new Error(figures);
  const [user, system, kib] = figures.trim().split(/\s+/).slice(-3).map(Number);
  return { wall, cpu: user + system, mib: kib / 1024, digest: hash.digest("hex") };
}

async function compare(latency, runs) {
  const folder = mkdtempSync(join(tmpdir(), "zarrflow-http-"));
  try {
    await makeArray(join(folder, "a.zarr"));
    const server = fork(fileURLToPath(import.meta.url), ["serve", folder, String(latency)]);
    const [port] = await once(server, "message");
    const url = `http://127.0.0.1:${port}/a.zarr`;
    const ours = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
    const itself = fileURLToPath(import.meta.url);
    const region = REGION.map((range) => range.join(":")).join(",");
    const programs = {
      slice: {
        zarrflow: [ours, "slice", url, "--slice", region],
        zarrita: [itself, "zarrita", url, "slice"],
      },
      open: {
        zarrflow: [ours, "slice", url, "--slice", region, "--dry-run"],
        zarrita: [itself, "zarrita", url, "open"],
      },
    };
    console.log("| workload | program | wall s | CPU s | peak MiB | requests | bytes |");
    console.log("| --- | --- | --- | --- | --- | --- | --- |");
    for (const [workload, each] of Object.entries(programs)) {
      const found = new Map(Object.keys(each).map((name) => [name, []]));
      for (let i = 0; i < runs; i++) {
        for (const [name, args] of Object.entries(each)) {
          const figures = await run(args);
          server.send("counts");
          const [counts] = await once(server, "message");
          found.get(name).push({ ...figures, ...counts });
        }
      }
      const digests = new Set([...found.values()].flat().map(({ digest }) => digest));
      if (workload === "slice" && digests.size !== 1) throw new Error("the programs print other bytes");
      for (const [name, rows] of found) {
        const median = (key) =>
          rows.map((row) => row[key]).sort((a, b) => a - b)[Math.floor(rows.length / 2)];
        const cells = [median("wall").toFixed(2), median("cpu").toFixed(2), median("mib").toFixed(0)];
        console.log(`| ${[workload, name, ...cells, median("requests"), median("bytes")].join(" | ")} |`);
      }
    }
    server.disconnect();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
