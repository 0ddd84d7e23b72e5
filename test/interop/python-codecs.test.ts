import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { loadCodecs } from "../../src/codecs/chain/codec-chain.ts";
import { codecStep, type Direction } from "../../src/codecs/chain/codec-step.ts";
import { canonicalConfig } from "../../src/codecs/registry.ts";
import { decodeBytes, encodeBytes } from "../../src/codecs/standalone.ts";
import type { CodecOption, DataTypeOption } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { plainBuffers } from "../../src/util/bytes.ts";
import { expectSame } from "../codecs/support.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { digestsOf, itemsOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { inWords } from "../support/words.ts";
import { type CodecCase, codecCases, dataTypeOf, itemSizeOf } from "./codec-cases.ts";
import { hasPython, readByZarrPython, runPython } from "./python.ts";

const folder = temporaryFolder();

interface Answer {
  readonly bytes?: string;
  readonly error?: string;
}

describe.runIf(hasPython)("codecs beside numcodecs", () => {
  const ours = new Map<CodecCase, Uint8Array>();
  /** What numcodecs writes, what it reads in that, and what it reads in what we wrote. */
  const theirs = new Map<CodecCase, { encoded: Answer; decoded: Answer; decodedOurs: Answer }>();

  beforeAll(async () => {
    for (const one of codecCases) ours.set(one, await code("encode", one, one.bytes));
    const first = await ask([
      ...codecCases.map((one) => ({ ...one, action: "encode" as const })),
      ...codecCases.map((one) => ({ ...one, action: "decode" as const, bytes: ours.get(one) ?? one.bytes })),
    ]);
    const decoded = await ask(
      codecCases.map((one, i) => ({ ...one, action: "decode", bytes: bytesOf(first[i]) })),
    );
    for (const [i, one] of codecCases.entries()) {
      const decodedOurs = first[codecCases.length + i] ?? {};
      theirs.set(one, { encoded: first[i] ?? {}, decoded: decoded[i] ?? {}, decodedOurs });
    }
  }, 300_000);

  async function ask(jobs: readonly (CodecCase & { readonly action: Direction })[]): Promise<Answer[]> {
    const path = join(folder.path, "jobs.json");
    const inBase64 = jobs.map((job) => ({ ...job, bytes: Buffer.from(job.bytes).toString("base64") }));
    writeFileSync(path, JSON.stringify(inBase64));
    return (await runPython("numcodecs_jobs.py", path)) as Answer[];
  }

  test.each(codecCases.map((one) => [titleOf(one), one] as const))("%s", async (_, one) => {
    const found = theirs.get(one);
    expect(found?.encoded.error).toBeUndefined();
    const encoded = bytesOf(found?.encoded);
    const decoded = bytesOf(found?.decoded);
    // What it writes, we read; what we write, it reads, to the same bytes.
    expectSame(await code("decode", one, encoded), decoded);
    expect(found?.decodedOurs.error).toBeUndefined();
    expectSame(bytesOf(found?.decodedOurs), decoded);
    if (one.isExact) expectSame(ours.get(one), encoded);
    else expectSame(decoded, one.bytes);
  });
});

const ramp = (index: number) => 3 * index - 40;
const waves = (index: number) => Math.fround(Math.sin(index) * 1000);

/** Lists that v2 and v3 have, the type of the items, and these. */
const LISTS: readonly [CodecOption, DataTypeOption, (index: number) => number | boolean][] = [
  ["bitround:10,zstd:5", "float32", waves],
  ["bitround:20,shuffle,zlib:9", "float64", waves],
  ["delta,blosc:zstd:3:bitshuffle", "int16", ramp],
  ["delta:int32,shuffle,gzip:1,crc32c", "int16", ramp],
  ["quantize:3,lz4", "float64", waves],
  ["fixedscaleoffset:0:10:i2,delta,bz2:1", "float32", waves],
  ["astype:float32,zstd:1", "float64", waves],
  ["packbits,zstd", "bool", (index) => index % 3 === 0],
  ["transpose:1:0,lzma:1", "int32", ramp],
  ["shuffle:2,adler32", "int32", ramp],
  ["crc32", "uint8", (index) => index],
  ["delta", "int64", ramp],
];

describe.runIf(hasPython)("lists of codecs, as zarr-python reads them", () => {
  test.each([
    ["v2", {}],
    ["v3", {}],
    ["v3, in shards", { shards: [4, 6] }],
  ] as const)("%s", { timeout: 120_000 }, async (name, more) => {
    const at = folder.next("lists.zarr");
    const grid = { shape: [8, 6], chunks: [2, 3], ...more };
    const arrays = LISTS.map(([codec, dataType, values]) => ({ ...grid, codec, dataType, values }));
    await given({
      at,
      zarrFormat: name === "v2" ? "v2" : "v3",
      arrays: Object.fromEntries(arrays.map((array, i) => [`a${i}`, array])),
    });
    const { arrays: read } = await readByZarrPython(at);
    expect(Object.fromEntries(read.map(({ path, sha256 }) => [path, sha256]))).toEqual(await digestsOf(at));
    expect(read).toHaveLength(LISTS.length);
  });
});

interface EncodedCase {
  readonly config: { readonly id: string };
  readonly encoded: string;
  readonly itemSize: number;
  readonly bytes?: string;
  readonly values?: readonly unknown[];
}

test.runIf(hasPython)("our bytes of objects, labels and checksums are those of numcodecs", async () => {
  const cases = (await runPython("encode_objects.py")) as EncodedCase[];
  expect(cases.length).toBeGreaterThan(40);
  for (const { config, encoded, itemSize, bytes = "", values } of cases) {
    const theirs = new Uint8Array(Buffer.from(encoded, "hex"));
    const plain = values ?? new Uint8Array(Buffer.from(bytes, "hex"));
    const decoded = await decodeBytes(config, theirs);
    expect(asJson(decoded), JSON.stringify(config)).toEqual(asJson(plain));
    // What is decoded tells whole floats from integers no more than JavaScript does.
    if (values && /json2|msgpack2/.test(config.id) && JSON.stringify(values).includes("1e+300")) continue;
    const ours = await encodeBytes(config, plain, { itemSize });
    expect(Buffer.from(ours).toString("hex"), JSON.stringify(config)).toBe(encoded);
  }
});

test.runIf(hasPython)("values in trees keep their places in either order", async () => {
  const values = await runPython("encode_tree.py", folder.path);
  for (const name of ["json2-C", "json2-F", "msgpack2-C", "msgpack2-F"])
    expect(await itemsOf(new DirectoryStore(folder.path), `${name}.zarr`), name).toEqual(values);
});

function asJson(values: unknown): unknown {
  if (values instanceof Uint8Array) return Buffer.from(values).toString("hex");
  return JSON.parse(
    JSON.stringify(values, (_, value) => (typeof value === "bigint" ? Number(value) : value)),
  );
}

function titleOf({ config: { id, ...settings }, dtype, bytes }: CodecCase): string {
  return `${id}, ${inWords(settings)}: ${bytes.length} bytes of ${dtype}`;
}

function bytesOf(answer: Answer | undefined): Uint8Array {
  return new Uint8Array(Buffer.from(answer?.bytes ?? "", "base64"));
}

async function code(direction: Direction, { config, dtype, bytes }: CodecCase, source: Uint8Array) {
  const dataType = dataTypeOf(dtype);
  const endian = dtype.startsWith(">") ? "big" : "little";
  const spec = { shape: [bytes.length / itemSizeOf(dtype)], dataType, fillValue: null };
  const configs = [{ name: "bytes", configuration: { endian } }, canonicalConfig(config)];
  const placed = (await loadCodecs(configs, spec))[1];
  if (!placed) throw new Error("no codec");
  return (await codecStep(placed, direction, plainBuffers)(source.slice())) as Uint8Array;
}
