import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CodecJson, canonicalConfig } from "../../src/codecs/canonical-config.ts";
import { createPipeline } from "../../src/codecs/chain/pipeline.ts";
import type { FixedData, VariableData } from "../../src/codecs/chunk-data.ts";
import type { ChunkSpec } from "../../src/codecs/codec.ts";
import { decodeBytes, encodeBytes } from "../../src/codecs/standalone/decode-bytes.ts";
import type { CodecConfig } from "../../src/meta/array-metadata.ts";
import type { DataType, Endian, Field } from "../../src/meta/data-type.ts";
import { plainBuffers } from "../../src/util/buffers.ts";
import { isZarrflowError } from "../../src/util/errors.ts";
import { coordsOf, product } from "../../src/util/shape.ts";
import { hasShared, shared } from "./shared.ts";

const corpus = join(shared, "corpus");

interface Zarray {
  shape: number[];
  chunks: number[];
  dtype: unknown;
  compressor: CodecJson | null;
  filters: ({ id: string } & Record<string, unknown>)[] | null;
  order: "C" | "F";
  fill_value: unknown;
}

interface Case {
  path: string;
  array: string;
  store: string;
  zarr_format: number;
  dtype: unknown;
  sha256?: string;
  values?: unknown[];
  values_encoding?: string;
  error_stage?: string;
  bad_chunk?: string;
}

const AREAS = /data\/v2\/(compressor|filter|layout|dtype)\.zarr$/;

/** Codecs of objects, whose values `corpus.test.ts` compares. */
const OF_OBJECTS = ["categorize", "json2", "msgpack2", "vlen-array"];

describe.runIf(hasShared)("chunks that zarr-python wrote", () => {
  const cases = hasShared ? manifest() : [];

  const readable = cases.filter(
    (one) => one.sha256 !== undefined && AREAS.test(one.path) && !isOfObjects(readZarray(one)),
  );
  it.each(readable.map((c) => [`${c.path} ${c.array}`, c] as const))(
    "%s",
    async (_, { path, array, sha256 }) => {
      const place = join(corpus, path, array);
      const zarray = readZarray({ path, array });
      expect(
        createHash("sha256")
          .update(await readArray(place, zarray))
          .digest("hex"),
      ).toBe(sha256);
    },
  );

  const strings = cases.filter(
    (one) =>
      one.path === "data/v2/object.zarr" &&
      one.array.startsWith("vlen-") &&
      one.values &&
      !isOfObjects(readZarray(one)),
  );
  it.each(strings.map((c) => [`${c.path} ${c.array}`, c] as const))(
    "%s",
    async (_, { path, array, ...expected }) => {
      const place = join(corpus, path, array);
      const zarray = readZarray({ path, array });
      const values = await readVariable(place, zarray, expected.values_encoding === "base64");
      for (const [i, value] of values.entries())
        if (value !== undefined) expect(value).toBe(expected.values?.[i]);
    },
  );
});

describe.runIf(hasShared)("chunks that were broken on purpose", () => {
  const broken = (hasShared ? manifest() : []).filter(
    (one) =>
      one.path.startsWith("bad/v2") &&
      one.bad_chunk !== undefined &&
      one.error_stage === "read" &&
      !isOfObjects(readZarray(one)),
  );
  it.each(broken.map((c) => [c.path, c] as const))("%s is refused", async (_, { path, bad_chunk = "" }) => {
    const place = join(corpus, path);
    const zarray = readZarray({ path, array: "" });
    const read = async () => {
      const pipeline = await pipelineOf(zarray);
      return pipeline.decode(new Uint8Array(readFileSync(join(place, bad_chunk))), plainBuffers);
    };
    const error = await read().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(isZarrflowError(error)).toBe(true);
    expect(["corrupt-chunk", "codec-error", "resource-limit"]).toContain((error as { code: string }).code);
  });
});

describe.runIf(hasShared)("codec vectors", () => {
  interface Vector {
    codec: string;
    config?: Record<string, unknown>;
    decoded_hex?: string;
    decoded_sha256?: string;
    encoded_hex: string;
  }
  const path = join(shared, "corpus-legacy/vectors/codecs.json");
  const vectors: Vector[] = hasShared ? JSON.parse(readFileSync(path, "utf8")) : [];

  const checked = vectors.filter(({ codec }) => ["crc32c", "delta", "blosc"].includes(codec));
  it.each(checked.map((v, i) => [`${i} ${v.codec} ${JSON.stringify(v.config ?? {})}`, v] as const))(
    "%s",
    async (_, { codec, config, encoded_hex, decoded_hex, decoded_sha256 }) => {
      const json = { id: codec, ...config };
      const decoded = await decodeBytes(json, Buffer.from(encoded_hex, "hex"));
      if (decoded_sha256) expect(createHash("sha256").update(decoded).digest("hex")).toBe(decoded_sha256);
      if (decoded_hex === undefined) return;
      expect(Buffer.from(decoded).toString("hex")).toBe(decoded_hex);
      expect(Buffer.from(await encodeBytes(json, decoded)).toString("hex")).toBe(encoded_hex);
    },
  );

  interface TransposeVector extends Vector {
    order: number[];
    shape: number[];
  }
  const transposes = vectors.filter(({ codec }) => codec === "transpose") as TransposeVector[];
  it.each(transposes.map((v) => [v.order.join(), v] as const))("transpose %s", async (_, vector) => {
    const itemSize = (vector.decoded_hex ?? "").length / 2 / product(vector.shape);
    const spec: ChunkSpec = {
      shape: vector.shape,
      dataType: { kind: "raw", size: itemSize },
      fillValue: null,
    };
    const pipeline = await createPipeline(
      [
        { name: "transpose", configuration: { order: vector.order } },
        { name: "bytes", configuration: {} },
      ],
      spec,
    );
    const data = (await pipeline.decode(Buffer.from(vector.encoded_hex, "hex"), plainBuffers)) as FixedData;
    expect(Buffer.from(inCOrder(data)).toString("hex")).toBe(vector.decoded_hex);
    const encoded = await pipeline.encode({ ...data, bytes: data.bytes.slice() }, plainBuffers);
    expect(Buffer.from(encoded).toString("hex")).toBe(vector.encoded_hex);
  });
});

describe.runIf(hasShared)("vectors of strings", () => {
  const path = join(shared, "corpus-legacy/vectors/codecs.json");
  const vectors: { codec: string; values: string[]; encoded_hex: string }[] = hasShared
    ? JSON.parse(readFileSync(path, "utf8"))
    : [];
  const strings = vectors.filter(({ values }) => values);
  it.each(strings.map((v) => [v.codec, v] as const))("%s", async (name, { values, encoded_hex }) => {
    const config = { name: name.replace(" string", ""), configuration: {} };
    const spec: ChunkSpec = { shape: [values.length], dataType: { kind: "string" }, fillValue: null };
    const pipeline = await createPipeline([config], spec);
    const data = (await pipeline.decode(Buffer.from(encoded_hex, "hex"), plainBuffers)) as VariableData;
    const items = values.map((_, i) => data.bytes.subarray(data.offsets[i], data.offsets[i + 1]));
    expect(items.map((item) => Buffer.from(item).toString())).toEqual(values);
    expect(Buffer.from(await pipeline.encode(data, plainBuffers)).toString("hex")).toBe(encoded_hex);
  });
});

function manifest(): Case[] {
  const { cases } = JSON.parse(readFileSync(join(corpus, "manifest.json"), "utf8")) as { cases: Case[] };
  return cases.filter((c) => c.zarr_format === 2 && c.array !== null && c.store === "directory");
}

function readZarray({ path, array }: Pick<Case, "path" | "array">): Zarray {
  return JSON.parse(readFileSync(join(corpus, path, array, ".zarray"), "utf8")) as Zarray;
}

function isOfObjects({ compressor, filters }: Zarray): boolean {
  return [compressor, ...(filters ?? [])].some((json) => OF_OBJECTS.includes(normalName(json)));
}

function normalName(json: CodecJson | null): string {
  return json === null ? "" : canonicalConfig(json).name;
}

/** The array's chunks as C-order little-endian bytes; missing ones are zero or the fill value's number. */
async function readArray(place: string, zarray: Zarray): Promise<Uint8Array> {
  const pipeline = await pipelineOf(zarray);
  const { shape, chunks } = zarray;
  const itemSize = pipeline.decodedSize / product(chunks);
  const array = new Uint8Array(product(shape) * itemSize);
  const strides = shape.map((_, d) => product(shape.slice(d + 1)));
  for (const coords of coordsOf(shape.map((n, d) => Math.ceil(n / (chunks[d] ?? 1))))) {
    const encoded = readChunk(place, coords);
    const data =
      encoded && inCOrder((await pipeline.decode(new Uint8Array(encoded), plainBuffers)) as FixedData);
    let item = 0;
    for (const within of coordsOf(chunks)) {
      const at = within.map((w, d) => w + (coords[d] ?? 0) * (chunks[d] ?? 1));
      const from = item++ * itemSize;
      if (at.some((c, d) => c >= (shape[d] ?? 0))) continue;
      if (!data) throw new Error(`chunk ${coords} is missing`);
      const to = at.reduce((sum, c, d) => sum + c * (strides[d] ?? 0), 0) * itemSize;
      array.set(data.subarray(from, from + itemSize), to);
    }
  }
  return array;
}

async function readVariable(place: string, zarray: Zarray, base64: boolean): Promise<(string | undefined)[]> {
  const pipeline = await pipelineOf(zarray);
  const { shape, chunks } = zarray;
  const values = new Array<string | undefined>(product(shape));
  const strides = shape.map((_, d) => product(shape.slice(d + 1)));
  for (const coords of coordsOf(shape.map((n, d) => Math.ceil(n / (chunks[d] ?? 1))))) {
    const encoded = readChunk(place, coords);
    if (!encoded) continue;
    const data = (await pipeline.decode(new Uint8Array(encoded), plainBuffers)) as VariableData;
    let item = 0;
    for (const within of coordsOf(chunks)) {
      const at = within.map((w, d) => w + (coords[d] ?? 0) * (chunks[d] ?? 1));
      const [start, end] = data.offsets.subarray(item++);
      if (at.some((c, d) => c >= (shape[d] ?? 0))) continue;
      const bytes = Buffer.from(data.bytes.subarray(start, end));
      values[at.reduce((sum, c, d) => sum + c * (strides[d] ?? 0), 0)] = bytes.toString(
        base64 ? "base64" : "utf8",
      );
    }
  }
  return values;
}

function readChunk(place: string, coords: readonly number[]): Buffer | undefined {
  for (const key of [coords.join("."), coords.join("/")]) {
    const path = join(place, key || "0");
    if (existsSync(path)) return readFileSync(path);
  }
  return undefined;
}

async function pipelineOf({ chunks, dtype, order, filters, compressor }: Zarray) {
  const codecs: CodecConfig[] = [];
  if (order === "F") codecs.push({ name: "transpose", configuration: { order: "F" } });
  const [first, ...others] = (filters ?? []).map(canonicalConfig);
  const isVlen = first?.name.startsWith("vlen-") ?? false;
  const { dataType, endian } = isVlen
    ? { dataType: { kind: first?.name === "vlen-bytes" ? "binary" : "string" } as DataType, endian: "little" }
    : typeOf(dtype);
  if (!isVlen) codecs.push({ name: "bytes", configuration: { endian } });
  if (first) codecs.push(first, ...others);
  if (compressor) codecs.push(canonicalConfig(compressor));
  return createPipeline(codecs, { shape: chunks, dataType, fillValue: null });
}

function typeOf(dtype: unknown): { dataType: DataType; endian: Endian } {
  if (Array.isArray(dtype)) {
    const fields = dtype.map(([name, type, shape]): Field => {
      const field = typeOf(type);
      return {
        name,
        dataType: field.dataType,
        endian: field.endian,
        ...(shape && { shape: [shape].flat() }),
      };
    });
    const size = fields.reduce(
      (sum, { dataType, shape = [] }) => sum + ("size" in dataType ? dataType.size : 0) * product(shape),
      0,
    );
    return { dataType: { kind: "struct", size, fields }, endian: "little" };
  }
  const [, mark, kind = "", digits] = /^([<>|])(\w)(\d+)/.exec(String(dtype)) ?? [];
  const kinds: Record<string, string> = {
    b: "bool",
    i: "int",
    u: "uint",
    f: "float",
    c: "complex",
    m: "int",
    M: "int",
    S: "fixed-bytes",
    U: "fixed-text",
    V: "raw",
  };
  const size = Number(digits) * (kind === "U" ? 4 : 1);
  return { dataType: { kind: kinds[kind], size } as DataType, endian: mark === ">" ? "big" : "little" };
}

function inCOrder({ bytes, itemSize, shape, strides }: FixedData): Uint8Array {
  const ordered = new Uint8Array(bytes.length);
  let item = 0;
  for (const coords of coordsOf(shape)) {
    const from = coords.reduce((sum, c, d) => sum + c * (strides[d] ?? 0), 0) * itemSize;
    ordered.set(bytes.subarray(from, from + itemSize), item++ * itemSize);
  }
  return ordered;
}
