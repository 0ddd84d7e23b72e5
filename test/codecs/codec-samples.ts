import { createPipeline, loadCodecs, type PlacedCodec } from "../../src/codecs/chain/codec-chain.ts";
import type { ChunkSpec, CodecContext } from "../../src/codecs/codec.ts";
import { makeCodec } from "../../src/codecs/registry.ts";
import type { CodecConfig } from "../../src/meta/array-metadata.ts";
import { type DataType, isFixed } from "../../src/meta/data-type.ts";
import type { JsonObject } from "../../src/util/json-value.ts";
import { RAW } from "./support.ts";

/** One way to use a codec. Together they cover every codec of the registry; a test holds that. */
export interface CodecSample {
  readonly name: string;
  readonly configuration: JsonObject;
  /** Tells apart what one codec has several decoders for. */
  readonly variant?: string;
  /** Type of the items in front; single bytes by default. */
  readonly dataType?: DataType;
  /** What items must hold: zeros and ones, finite numbers, one of `LABELS`, JSON lists of numbers; any bits by default. */
  readonly content?: "flags" | "numbers" | "labels" | "lists";
  /** Chunks have a multiple of so many items, and some. */
  readonly itemsMultiple?: number;
  /** What decoded numbers may be off by. */
  readonly tolerance?: number;
}

const FLOAT = (size: 2 | 4 | 8): DataType => ({ kind: "float", size });
const INT = (size: 1 | 2 | 4 | 8): DataType => ({ kind: "int", size });
const STRING: DataType = { kind: "string" };
const BINARY: DataType = { kind: "binary" };
const OBJECT: DataType = { kind: "object" };

const numbers = (size: 4 | 8, tolerance: number) =>
  ({ dataType: FLOAT(size), content: "numbers", tolerance }) as const;

export const LABELS = ["", "one", "zwei", "üç"] as const;

const INNER = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"] as const;

const LITTLE: CodecConfig = { name: "bytes", configuration: { endian: "little" } };

/** A codec in the configuration of another. */
function inner(name: string, configuration: JsonObject = {}): JsonObject {
  return { name, configuration };
}

export const CODEC_SAMPLES: readonly CodecSample[] = [
  { name: "cast_value", configuration: { data_type: "int16", out_of_range: "clamp" }, ...numbers(8, 0.5) },
  { name: "cast_value", configuration: { data_type: "int64" }, dataType: INT(4) },
  { name: "scale_offset", configuration: { scale: 4, offset: -3 }, ...numbers(8, 1e-9) },
  { name: "scale_offset", configuration: { scale: 1, offset: 0 }, dataType: INT(2) },
  { name: "transpose", configuration: { order: [0] }, dataType: INT(4) },
  { name: "transpose", configuration: { order: "F" }, dataType: STRING },

  ...["end", "start"].flatMap((index_location) =>
    [FLOAT(4), STRING].map((dataType): CodecSample => {
      const little = inner("bytes", { endian: "little" });
      const codecs = [dataType === STRING ? inner("vlen-utf8") : little, inner("zlib", { level: 1 })];
      const index = { index_codecs: [little, inner("crc32c")], index_location };
      const configuration = { chunk_shape: [8], codecs, ...index };
      return { name: "sharding_indexed", configuration, dataType, itemsMultiple: 8 };
    }),
  ),
  { name: "json2", configuration: {}, dataType: OBJECT },
  { name: "json2", configuration: {}, dataType: INT(4) },
  { name: "msgpack2", configuration: {}, dataType: OBJECT },
  { name: "msgpack2", configuration: { use_bin_type: false }, dataType: FLOAT(8), content: "numbers" },
  { name: "v3.packbits", configuration: {}, dataType: { kind: "bool", size: 1 }, content: "flags" },
  { name: "v3.packbits", configuration: { padding_encoding: "first_byte" }, dataType: INT(2) },
  {
    name: "v3.packbits",
    configuration: { first_bit: 0, last_bit: 0, padding_encoding: "last_byte" },
    dataType: { kind: "uint", size: 1 },
    content: "flags",
  },
  { name: "vlen-array", configuration: { dtype: "<i4" }, dataType: OBJECT, content: "lists" },
  { name: "vlen-array", configuration: { dtype: "<f8" }, dataType: OBJECT, content: "lists" },
  { name: "zep0007", configuration: { offset_size: 4 }, dataType: STRING },
  { name: "zep0007", configuration: { offset_size: 8 }, dataType: BINARY },

  { name: "bytes", configuration: {}, dataType: RAW(1) },
  { name: "bytes", configuration: { endian: "big" }, dataType: FLOAT(8) },
  { name: "vlen-bytes", configuration: {}, dataType: BINARY },
  { name: "vlen-utf8", configuration: {}, dataType: STRING },

  { name: "adler32", configuration: {} },
  { name: "adler32", configuration: { location: "end" } },
  { name: "astype", configuration: { decode_dtype: "|u1", encode_dtype: "<f8" } },
  { name: "astype", configuration: { decode_dtype: "<i8", encode_dtype: ">i8" }, dataType: RAW(8) },
  { name: "astype", configuration: { decode_dtype: "<f8", encode_dtype: "<f4" }, ...numbers(8, 1e-3) },
  { name: "base64", configuration: {} },
  { name: "bitround", configuration: { keepbits: 12 }, ...numbers(4, 0.5) },
  { name: "bitround", configuration: { keepbits: 10 }, dataType: FLOAT(2) },
  ...INNER.flatMap((cname) =>
    ["noshuffle", "shuffle", "bitshuffle"].map((shuffle): CodecSample => {
      const configuration = { cname, clevel: 5, shuffle, blocksize: 512 };
      return { name: "blosc", variant: cname, configuration, dataType: RAW(4) };
    }),
  ),
  { name: "blosc", variant: "lz4", configuration: { cname: "lz4", shuffle: "shuffle" }, dataType: RAW(3) },
  { name: "blosc", variant: "stored", configuration: { cname: "lz4", clevel: 0 } },
  { name: "bz2", configuration: { level: 1 } },
  { name: "bz2", configuration: { level: 9 } },
  ...([STRING, { kind: "fixed-text", size: 16 }] as const).map((dataType): CodecSample => {
    const types: JsonObject = dataType === STRING ? { dtype: "|O" } : { dtype: "<U4", astype: "<u2" };
    const configuration: JsonObject = { labels: [...LABELS], ...types };
    return { name: "categorize", configuration, dataType, content: "labels" };
  }),
  { name: "crc32", configuration: {} },
  { name: "crc32", configuration: { location: "end" } },
  { name: "crc32c", configuration: {} },
  { name: "delta", configuration: { dtype: "|u1" } },
  { name: "delta", configuration: { dtype: "|i1", astype: "<i4" } },
  { name: "delta", configuration: { dtype: ">i8" }, dataType: RAW(8) },
  { name: "delta", configuration: { dtype: "<i2" }, dataType: RAW(2) },
  {
    name: "fixedscaleoffset",
    configuration: { offset: 3, scale: 100, dtype: "<f4", astype: "<i4" },
    ...numbers(4, 0.02),
  },
  { name: "fletcher32", configuration: {} },
  { name: "gzip", configuration: { level: 0 } },
  { name: "gzip", configuration: { level: 1 } },
  { name: "gzip", configuration: { level: 9 } },
  { name: "jenkins_lookup3", configuration: {} },
  { name: "jenkins_lookup3", configuration: { initval: 7, prefix: [1, 2, 3] } },
  { name: "lz4", configuration: { acceleration: 1 } },
  { name: "lz4", configuration: { acceleration: 20 } },
  { name: "lzma", configuration: {} },
  { name: "lzma", configuration: { preset: 0, check: 4 } },
  { name: "lzma", configuration: { format: 2, preset: 1 } },
  { name: "lzma", configuration: { format: 3, filters: [{ id: 3, dist: 4 } as JsonObject, { id: 33 }] } },
  { name: "packbits", configuration: {}, content: "flags" },
  { name: "quantize", configuration: { digits: 2, dtype: "<f8", astype: "<f4" }, ...numbers(8, 0.01) },
  { name: "shuffle", configuration: { elementsize: 1 } },
  { name: "shuffle", configuration: { elementsize: 4 }, dataType: RAW(4) },
  { name: "shuffle", configuration: { elementsize: 7 }, dataType: RAW(7) },
  { name: "v1.gzip", configuration: { level: 1 } },
  { name: "zlib", configuration: { level: 1 } },
  { name: "zlib", configuration: { level: 9 } },
  ...[-7, 0, 1, 3, 9].map((level): CodecSample => ({ name: "zstd", configuration: { level } })),
  { name: "zstd", configuration: { level: 3, checksum: true } },
];

/** Names of a sample, for titles. */
export function titleOf({ name, configuration, dataType }: CodecSample): string {
  return [name, JSON.stringify(configuration), dataType?.kind].filter(Boolean).join(" ");
}

export function itemSizeOf({ dataType = RAW(1) }: CodecSample): number {
  return isFixed(dataType) ? dataType.size : 1;
}

/** The shortest chain with the sample's codec in it, for chunks of `items`. */
export async function sampleChain(sample: CodecSample, items: number): Promise<readonly PlacedCodec[]> {
  const spec = sampleSpec(sample, items);
  return loadCodecs(await sampleConfigs(sample, spec), spec);
}

export function sampleSpec({ dataType = RAW(1) }: CodecSample, items: number): ChunkSpec {
  return { shape: [items], dataType, fillValue: null };
}

/** The configurations of `sampleChain`. */
export async function sampleConfigs(sample: CodecSample, spec: ChunkSpec): Promise<readonly CodecConfig[]> {
  const { name, configuration } = sample;
  const own = { name, configuration };
  const itemSize = itemSizeOf(sample);
  const context: CodecContext = { spec, itemSize, endian: "little", pipelineOf: createPipeline };
  const { kind } = await makeCodec(own, context);
  if (kind === "array-to-bytes") return [own];
  const packing = isFixed(spec.dataType) ? LITTLE : { name: "vlen-utf8", configuration: {} };
  return kind === "array-to-array" ? [own, packing] : [packing, own];
}
