// Compares single codecs with Python's numcodecs and, where it has them, numcodecs.js, one thread each, in one interleaved
// run. Prints MB/s of decoded data for encoding and decoding, and the percentage of Python's speed in the same run.
//
//   npm run bench:codecs                        all rows, chunks of 4 KiB, 1 MiB and 16 MiB
//   npm run bench:codecs -- --rows zstd --sizes 1048576 --rounds 9
//
// ZARRFLOW_PYTHON names a Python with numcodecs; without it, the columns of percentages stay empty.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "rolldown";
import { loadCodecs } from "zarrflow/codecs";

const { values: options } = parseArgs({
  options: {
    rows: { type: "string", default: "" },
    sizes: { type: "string", default: `4096,${2 ** 20},${2 ** 24}` },
    rounds: { type: "string", default: "7" },
    seconds: { type: "string", default: "0.08" },
    json: { type: "boolean" },
  },
});
const SECONDS = Number(options.seconds);
const PYTHON = process.env.ZARRFLOW_PYTHON ?? "python3";

const blosc = (cname, shuffle, clevel = 5) => ({ id: "blosc", cname, clevel, shuffle, blocksize: 0 });
const ROWS = [
  ["blosc lz4 shuffle f4", blosc("lz4", 1), "<f4"],
  ["blosc lz4 shuffle i2", blosc("lz4", 1), "<i2"],
  ["blosc lz4 shuffle f8", blosc("lz4", 1), "<f8"],
  ["blosc lz4 bitshuffle f4", blosc("lz4", 2), "<f4"],
  ["blosc blosclz shuffle f4", blosc("blosclz", 1), "<f4"],
  ["blosc zstd 1 shuffle f4", blosc("zstd", 1, 1), "<f4"],
  ["blosc zstd 3 shuffle f4", blosc("zstd", 1, 3), "<f4"],
  ["zstd 1 f4", { id: "zstd", level: 1 }, "<f4"],
  ["zstd 3 f4", { id: "zstd", level: 3 }, "<f4"],
  ["zstd 1 shuffled f4", { id: "zstd", level: 1 }, "<f4", "shuffled"],
  ["zstd 3 shuffled f4", { id: "zstd", level: 3 }, "<f4", "shuffled"],
  ["zstd 3 i2", { id: "zstd", level: 3 }, "<i2"],
  ["lz4 f4", { id: "lz4", acceleration: 1 }, "<f4"],
  ["gzip 5 f4", { id: "gzip", level: 5 }, "<f4"],
  ["zlib 5 f4", { id: "zlib", level: 5 }, "<f4"],
  ["shuffle f4", { id: "shuffle", elementsize: 4 }, "<f4"],
  ["delta f4", { id: "delta", dtype: "<f4" }, "<f4"],
  ["delta i4", { id: "delta", dtype: "<i4" }, "<i4"],
  ["bytes, swapped, f4", { id: "swap" }, "<f4"],
  ["transpose f4", { id: "transpose" }, "<f4"],
  ["crc32c", { id: "crc32c" }, "<f4"],
];
const ITEM_SIZES = { "<i2": 2, "<i4": 4, "<f4": 4, "<f8": 8 };
const SHUFFLES = ["noshuffle", "shuffle", "bitshuffle"];

const folder = mkdtempSync(join(tmpdir(), "zarrflow-bench-"));
const { copyBox } = await internal("codecs/kernels/copy-box");
const python = existsSync(PYTHON) ? startPython() : undefined;
const table = [];
try {
  console.error(`Node ${process.version}; Python: ${python ? PYTHON : "none"}`);
  for (const size of options.sizes.split(",").map(Number)) {
    heading(size);
    for (const row of ROWS.filter(([name]) => name.includes(options.rows))) {
      const result = { size, ...(await measure(row, size)) };
      table.push(result);
      print(result);
    }
  }
  if (options.json) console.log(JSON.stringify(table));
} finally {
  python?.stop();
  rmSync(folder, { recursive: true });
}

/** Medians over rounds in which all candidates take turns. */
async function measure([name, config, dtype, form], size) {
  const itemSize = ITEM_SIZES[dtype];
  const bytes = form === "shuffled" ? shuffled(field(dtype, size), itemSize) : field(dtype, size);
  const path = join(folder, `${dtype.slice(1)}-${size}${form ?? ""}`);
  writeFileSync(path, bytes);
  const ours = await ourJob(config, bytes, itemSize);
  const js = await numcodecsJob(config, bytes, itemSize);
  const times = {};
  let theirSize;
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const direction of ["encode", "decode"]) {
      if (python) {
        const answer = await python.ask({ config, dtype, path, direction, seconds: SECONDS });
        theirSize = answer.size;
        keep("python", direction, answer.seconds);
      }
      keep("ours", direction, await secondsOf(ours[direction]));
      if (js) keep("js", direction, await secondsOf(js[direction]));
    }
  }
  const rate = (who, direction) => times[who] && size / median(times[who][direction]) / 1e6;
  return {
    name,
    ratio: size / ours.size,
    theirRatio: theirSize && size / theirSize,
    ...Object.fromEntries(
      ["ours", "python", "js"].map((who) => [
        who,
        times[who] && { encode: rate(who, "encode"), decode: rate(who, "decode") },
      ]),
    ),
  };

  function keep(who, direction, seconds) {
    times[who] ??= { encode: [], decode: [] };
    times[who][direction].push(seconds);
  }
}

/** Median time of a call, over as many calls as fit the time. */
async function secondsOf(call) {
  const times = [];
  const end = performance.now() + 1000 * SECONDS;
  for (;;) {
    const start = performance.now();
    const answer = call();
    if (answer instanceof Promise) await answer;
    const now = performance.now();
    times.push(now - start);
    if (now >= end && times.length >= 3) return median(times) / 1000;
  }
}

async function ourJob(config, bytes, itemSize) {
  if (config.id === "transpose") {
    const side = Math.floor(Math.sqrt(bytes.length / itemSize));
    const target = new Uint8Array(bytes.length);
    const rows = { offset: 0, strides: [side, 1] };
    const columns = { offset: 0, strides: [1, side] };
    const move = () => copyBox(bytes, rows, target, columns, [side, side], itemSize);
    return { encode: move, decode: move, size: bytes.length };
  }
  const spec = {
    shape: [bytes.length / itemSize],
    dataType: { kind: "float", size: itemSize },
    fillValue: null,
  };
  if (config.id === "swap") {
    const copy = bytes.slice();
    const [{ codec }] = await loadCodecs([{ name: "bytes", configuration: { endian: "big" } }], spec);
    const data = { kind: "fixed", bytes: copy, itemSize, shape: spec.shape, strides: [1] };
    return { encode: () => codec.encode(data), decode: () => codec.decode(copy), size: bytes.length };
  }
  const { id, ...rest } = config;
  const configuration =
    id === "blosc" ? { ...rest, shuffle: SHUFFLES[rest.shuffle], typesize: itemSize } : rest;
  const chain = await loadCodecs(
    [
      { name: "bytes", configuration: { endian: "little" } },
      { name: id, configuration },
    ],
    spec,
  );
  const { codec } = chain[1];
  const room = new Uint8Array(codec.maxEncodedSize(bytes.length));
  const encoded = room.slice(0, await codec.encodeInto(bytes, room));
  const target = new Uint8Array(bytes.length);
  if ((await codec.decodeInto(encoded, target)) !== bytes.length || Buffer.compare(target, bytes) !== 0) {
    throw new Error(`${id} does not give back what it was given`);
  }
  return {
    encode: () => codec.encodeInto(bytes, room),
    decode: () => codec.decodeInto(encoded, target),
    size: encoded.length,
  };
}

/** numcodecs.js, which writes blosc only with items of 4 bytes. */
async function numcodecsJob(config, bytes, itemSize) {
  if (!["blosc", "zstd", "lz4", "gzip", "zlib"].includes(config.id)) return undefined;
  if (config.id === "blosc" && itemSize !== 4) return undefined;
  const { default: Codec } = await import(`numcodecs/${config.id}`);
  const codec = Codec.fromConfig(config);
  const encoded = (await codec.encode(bytes)).slice();
  return { encode: () => codec.encode(bytes), decode: () => codec.decode(encoded) };
}

/** A smooth field with noise: floats to two hundredths, integers in hundredths. */
function field(dtype, size) {
  const itemSize = ITEM_SIZES[dtype];
  const Numbers = { "<i2": Int16Array, "<i4": Int32Array, "<f4": Float32Array, "<f8": Float64Array }[dtype];
  let seed = 1;
  const values = Numbers.from({ length: size / itemSize }, (_, i) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) | 0;
    const value = 280 + 15 * Math.sin(i / 700) + 3 * Math.cos(i / 53) + (0.3 * seed) / 2 ** 31;
    return dtype.includes("f") ? Math.round(value * 50) / 50 : Math.round((value - 280) * 50);
  });
  return new Uint8Array(values.buffer);
}

function shuffled(bytes, itemSize) {
  const items = bytes.length / itemSize;
  return bytes.map((_, i) => bytes[(i % items) * itemSize + Math.floor(i / items)]);
}

function startPython() {
  const script = fileURLToPath(new URL("codecs.py", import.meta.url));
  const child = spawn(PYTHON, [script], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(job) {
      child.stdin.write(`${JSON.stringify(job)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error("Python ended early");
      return JSON.parse(value);
    },
    stop: () => child.kill(),
  };
}

function heading(size) {
  const name = size >= 2 ** 20 ? `${size / 2 ** 20} MiB` : `${size / 2 ** 10} KiB`;
  console.log(`\n### Chunks of ${name}\n`);
  console.log(
    "| codec | encode MB/s | % of Python | decode MB/s | % of Python | numcodecs.js % | ratio : Python's |",
  );
  console.log("| --- | --- | --- | --- | --- | --- | --- |");
}

function print({ name, ratio, theirRatio, ours, python: base, js }) {
  const percent = (who, direction) =>
    who && base ? String(Math.round((100 * who[direction]) / base[direction])) : "";
  const cells = [
    name,
    ours.encode.toFixed(0),
    percent(ours, "encode"),
    ours.decode.toFixed(0),
    percent(ours, "decode"),
    js ? `${percent(js, "encode")} / ${percent(js, "decode")}` : "",
    theirRatio ? `${ratio.toFixed(3)} : ${theirRatio.toFixed(3)}` : ratio.toFixed(3),
  ];
  console.log(`| ${cells.join(" | ")} |`);
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

/** A module that the package does not export. */
async function internal(name) {
  const file = join(folder, "internal.mjs");
  const input = fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url));
  await build({ input, platform: "node", output: { file, codeSplitting: false } });
  return import(pathToFileURL(file).href);
}
