// @module-tag sampled
// @module-tag slow
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { convert, isZarrflowError, type NewArray, type Values } from "../../src/index.ts";
import type { ZarrFormat } from "../../src/meta/array-metadata.ts";
import { nameMemoryStore } from "../../src/stores/memory.ts";
import { digestOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { drawsAll, oneIn } from "../support/samples.ts";

const FORMATS: readonly ZarrFormat[] = ["v1", "v2", "v3-draft-2019", "v3"];
const APPROVED = fileURLToPath(new URL("format-matrix.approved.txt", import.meta.url));
const approved = readFileSync(APPROVED, "utf8");
const SHAPE = [3, 5];
const ITEMS = 15;

interface Row {
  readonly name: string;
  readonly array: Omit<NewArray, "shape" | "chunks"> & Partial<Pick<NewArray, "shape" | "chunks">>;
  readonly values: Values;
}

/** Any bytes, but for one item that is the fill value's and one of all ones: a NaN with a payload, NaT, -1. */
function items(size: number): Uint8Array {
  const bytes = Uint8Array.from({ length: ITEMS * size }, (_, i) => (i * 73 + (i >> 3) * 11) % 251);
  return bytes.fill(0, 0, size).fill(255, size, 2 * size);
}

const row = (dataType: NewArray["dataType"], size: number, more: Partial<NewArray> = {}): Row => ({
  name: [shown(dataType), ...Object.entries(more).map(([option, value]) => `${option} ${shown(value)}`)].join(
    ", ",
  ),
  array: { zarrFormat: "v2", dataType, ...(!more.codecs && { codec: "none" }), ...more },
  values: items(size),
});

/** JSON, and what JSON has not. */
function shown(value: unknown): string {
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (value instanceof Uint8Array) return `bytes ${value}`;
  return JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? `${inner}n` : inner));
}

const cycled = <T>(values: readonly T[]): T[] =>
  Array.from({ length: ITEMS }, (_, i) => values[i % values.length] as T);
const labels = ["", "plain", "größer", "日本", "a\u0000b", "😀"];
const texts = cycled(labels);
const bits = Uint8Array.from(cycled([0, 1]));
const binaries = texts.map((text) => new TextEncoder().encode(text));
/** UTF-32: letters that count up. */
const letters = (from: number) =>
  new Uint8Array(Uint32Array.from({ length: 3 * ITEMS }, (_, i) => from + i).buffer);

/** What v2 holds as `|O`, by the filter that comes first. */
const objects = (array: Pick<NewArray, "codecs"> & Partial<NewArray>, values: Values): Row => ({
  name: `objects by ${array.codecs?.map((codec) => shown(codec)).join(", ")}`,
  array: { zarrFormat: "v2", dataType: { kind: "object" }, ...array },
  values,
});
const anything = Array.from({ length: ITEMS }, (_, i) => [null, i, `text ${i}`, [i, { deep: true }]][i % 4]);
const lists = Array.from({ length: ITEMS }, (_, i) => Array.from({ length: i % 4 }, (_, j) => i * j));

/** Fields of a structure, as `a <i4, b |S3`. */
const fields = (text: string) => text.split(", ").map((field) => field.split(" ") as [string, string]);

/** A configuration of numcodecs, with its parameters. */
const zlib = (level: number) => ({ id: "zlib", level });

const odd = { größe: "日本", "a/b~c": [], "": { __proto__: null, "\u0000": "\ud83d\ude00" } };
const cast = { name: "cast_value", configuration: { data_type: "float64" } };
const transposed = { name: "transpose", configuration: { order: [1, 0, 2] } };
const generic = { name: "numpy.datetime64", configuration: { unit: "generic", scale_factor: 1 } };

const ROWS: readonly Row[] = [
  { ...row("bool", 1), values: bits },
  ...(["int8", "uint8"] as const).map((type) => row(type, 1)),
  ...(["int16", "uint16", ">i2", "float16"] as const).map((type) => row(type, 2)),
  ...(["int32", "uint32", ">u4", "float32", ">f4"] as const).map((type) => row(type, 4)),
  ...(["int64", "uint64", "float64", "complex64", ">f8"] as const).map((type) => row(type, 8)),
  ...(["complex128", ">c16"] as const).map((type) => row(type, 16)),
  ...(["<M8[ns]", ">M8[D]", "<M8[25us]", "<m8[s]"] as const).map((type) => row(type, 8)),
  row("|S5", 5),
  row("|V3", 3),
  { ...row("<U3", 12), values: letters(0x1f600) },
  { ...row(">U3", 12), values: letters(0x41) },
  row(fields("a <i4, b |S3, c >f8"), 15),
  row(fields("a <i4, b |S3, c <f8"), 15),
  row(
    [
      ["a", fields("x <u2, y |b1")],
      ["b", "<f4", [2]],
    ],
    11,
  ),
  row("r24", 3, { zarrFormat: "v3" }),
  row(generic, 8, { zarrFormat: "v3" }),
  { name: "string", array: { zarrFormat: "v3", dataType: "string", codec: "none" }, values: texts },
  { name: "string of v2", array: { zarrFormat: "v2", dataType: "string", codec: "none" }, values: texts },
  { name: "binary", array: { zarrFormat: "v3", dataType: "binary", codec: "none" }, values: binaries },
  row("float32", 4, { fillValue: Number.NaN }),
  row("float32", 4, { zarrFormat: "v3", fillValue: Uint8Array.of(1, 0, 192, 127) }),
  row("float64", 8, { fillValue: -0 }),
  row("float64", 8, { fillValue: null }),
  row("int64", 8, { fillValue: -9007199254740993n }),
  row("uint64", 8, { fillValue: 18446744073709551615n }),
  row("<M8[ns]", 8, { fillValue: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 128) }),
  row("float32", 4, { order: "F" }),
  ...(["zlib:1", "gzip:1", "bz2:1", "zstd:1", "lz4", "blosc:lz4:5:shuffle"] as const).map((codec) =>
    row("float32", 4, { codec }),
  ),
  row("float32", 4, { codecs: [{ id: "delta", dtype: "<f4" }, zlib(1)] }),
  ...["crc32", "crc32c", "adler32", "fletcher32", "jenkins_lookup3"].map((id) =>
    row("float32", 4, { codecs: [{ id }] }),
  ),
  row("float32", 4, { codecs: [{ id: "shuffle", elementsize: 4 }, { id: "lzma" }] }),
  row("float64", 8, { codecs: [{ id: "astype", encode_dtype: "<f8", decode_dtype: "<f8" }] }),
  { ...row("bool", 1, { codecs: [{ id: "packbits" }] }), values: bits },
  row("int16", 2, { codecs: [{ id: "fixedscaleoffset", scale: 1, offset: 0, dtype: "<i2", astype: "<i2" }] }),
  row(">i2", 2, { codecs: [{ id: "delta", dtype: ">i2" }, zlib(1)], separator: "/" }),
  row("float32", 4, { codecs: [zlib(1), zlib(2)] }),
  row("float32", 4, { codecs: [cast], zarrFormat: "v3" }),
  row("float32", 4, { separator: "/" }),
  row("float32", 4, { separator: ".", zarrFormat: "v3" }),
  row(">f8", 8, { order: "F" }),
  row(">f8", 8, { order: "F", codec: "blosc:lz4:5:shuffle", zarrFormat: "v1" }),
  {
    ...row("int16", 2, {
      codecs: [transposed, { id: "zlib" }],
      shape: [3, 1, 5],
      chunks: [2, 1, 3],
      zarrFormat: "v3",
    }),
    name: "an order other than C and F",
  },
  row("float32", 4, { shards: [4, 6], zarrFormat: "v3" }),
  row(">f8", 8, { shards: [4, 3], zarrFormat: "v3", order: "F" }),
  row("|S5", 5, { fillValue: "ab" }),
  row("|S5", 5, { fillValue: Uint8Array.of(0, 1, 0, 2, 0) }),
  row("<U3", 12, { fillValue: "ü😀" }),
  row("|V3", 3, { fillValue: Uint8Array.of(1, 2, 3) }),
  row(fields("a >i4, b <U1"), 8, { fillValue: { a: -2, b: "ß" } }),
  // the layouts of ZEP 7 for variable data
  ...(["string", "binary"] as const).flatMap((dataType) =>
    [4, 8].map((offset_size) => ({
      name: `${dataType} with offsets of ${offset_size} bytes`,
      array: {
        zarrFormat: "v3" as const,
        dataType,
        codecs: [{ name: "zep0007", configuration: { offset_size } }],
      },
      values: dataType === "string" ? texts : binaries,
    })),
  ),
  objects({ codecs: [{ id: "json2" }] }, anything),
  objects({ codecs: [{ id: "msgpack2" }] }, anything),
  objects({ codecs: [{ id: "vlen-array", dtype: "<i4" }] }, lists),
  objects({ dataType: "string", codecs: [{ id: "categorize", labels, dtype: "|O", astype: "|u1" }] }, texts),
  objects({ dataType: "binary", codecs: [{ id: "vlen-bytes" }, { id: "base64" }] }, binaries),
  row("float32", 4, { dimensionNames: ["y", null], zarrFormat: "v3" }),
  row("float32", 4, { dimensionNames: ["größe", ""] }),
  row("float32", 4, { dimensionNames: ["y", "x"] }),
  row("float32", 4, { attributes: odd }),
  row("float32", 4, { attributes: { _ARRAY_DIMENSIONS: ["only one"] } }),
  row("float32", 4, { attributes: { units: "K", scale: 9007199254740993n, nested: { none: null } } }),
];

/** What came of a conversion: nothing to say, or the pointers of what the format cannot hold. */
type Outcome = "equal" | string;

async function convertTo(source: string, target: string, to: ZarrFormat, sha256: string): Promise<Outcome> {
  try {
    await convert(source, target, { to });
  } catch (error) {
    if (!isZarrflowError(error, "loss-refused")) throw error;
    return (error.details.pointers ?? [error.details.pointer]).join(" ");
  }
  expect(await digestOf(target), `${source} -> ${target}`).toBe(sha256);
  return "equal";
}

describe("each data type, from each format to each", () => {
  const names = ["origin", ...FORMATS, ...FORMATS.flatMap((a) => FORMATS.map((b) => `${a}-${b}`))];
  const forget = () => {
    for (const name of names) nameMemoryStore(`matrix-${name}`, undefined);
  };
  const table: string[] = [];
  afterEach(forget);

  // One row in four in `npm test`, each as it was approved; all rows, and the table of them, in the long run.
  ROWS.forEach((row, i) => {
    test(`${row.name}: what each format holds, and what it refuses`, oneIn(4, i), async () => {
      const lines = await outcomesOf(row);
      table.push(lines);
      if (!drawsAll) expect(`\n${approved}`).toContain(`\n${lines}\n`);
    });
  });

  async function outcomesOf({ name, array, values }: Row): Promise<string> {
    const origin = "memory:matrix-origin";
    await given({ at: origin, shape: SHAPE, chunks: [2, 3], ...array, values });
    const sha256 = await digestOf(origin);
    const lines: string[] = [];
    for (const from of FORMATS) {
      const source = `memory:matrix-${from}`;
      const held = await convertTo(origin, source, from, sha256);
      if (held !== "equal") {
        lines.push(`  ${from}: cannot hold ${held}`);
        continue;
      }
      const outcomes: string[] = [];
      for (const to of FORMATS) {
        outcomes.push(`${to} ${await convertTo(source, `${source}-${to}`, to, sha256)}`);
      }
      lines.push(`  ${from} -> ${outcomes.join(", ")}`);
    }
    return [name, ...lines].join("\n");
  }

  test("all come out as approved", { tags: ["long"] }, async () => {
    expect(table).toHaveLength(ROWS.length);
    await expect(`${table.join("\n")}\n`).toMatchFileSnapshot(APPROVED);
  });
});
