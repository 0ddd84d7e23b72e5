import { ZarrflowError } from "../util/errors.ts";
import {
  BOOLEANS,
  type CodecAliases,
  type CodecDescriptor,
  describeValue,
  describeValues,
  FLOATS,
  KERNEL,
  NUMBERS,
  TYPESCRIPT,
} from "./descriptor.ts";
import { assertNoMore, levelOption, parseLevel } from "./option-parts.ts";

/** Documents that name this codec are rejected when they are read. */
const pickle = {
  name: "pickle",
  kind: "array-to-bytes",
  role: "serializer",
  aliases: { v2: "pickle" },
  costClass: "other",
  refused: "reading a pickle can run arbitrary code",
} as const satisfies CodecDescriptor;

const pcodec = {
  name: "pcodec",
  kind: "bytes-to-bytes",
  role: "compressor",
  aliases: { v2: "pcodec", v3: "numcodecs.pcodec" },
  costClass: "other",
  refused: "Pco has no implementation in JavaScript; convert the array with zarr-python",
} as const satisfies CodecDescriptor;

const zfpy = {
  name: "zfpy",
  kind: "bytes-to-bytes",
  role: "compressor",
  aliases: { v2: "zfpy", v3: "numcodecs.zfpy" },
  costClass: "other",
  refused: "ZFP has no implementation in JavaScript; convert the array with zarr-python",
} as const satisfies CodecDescriptor;

const castValue = {
  name: "cast_value",
  kind: "array-to-array",
  role: "filter",
  aliases: { v3: "cast_value" },
  parts: [{ setting: "data_type", is: "word", isNeeded: true }],
  isLossy: true,
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./filters/value-codec.ts")).createCastValue,
} as const satisfies CodecDescriptor;

const scaleOffset = {
  name: "scale_offset",
  kind: "array-to-array",
  role: "filter",
  aliases: { v3: "scale_offset" },
  parts: [
    { setting: "scale", is: "number", isNeeded: true },
    { setting: "offset", is: "number" },
  ],
  isLossy: true,
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./filters/value-codec.ts")).createScaleOffset,
} as const satisfies CodecDescriptor;

const transpose = {
  name: "transpose",
  kind: "array-to-array",
  role: "filter",
  aliases: { v3: "transpose" },
  settings: ["order"],
  parts: [{ setting: "order", is: "numbers", isNeeded: true }],
  costClass: "none",
  describe: describeValues("order"),
  engines: TYPESCRIPT,
  load: async () => (await import("./filters/transpose.ts")).createTranspose,
} as const satisfies CodecDescriptor;

/** `packbits` of v3. The filter of the same name in numcodecs is a different codec. */
const bitPacking = {
  name: "v3.packbits",
  kind: "array-to-bytes",
  role: "serializer",
  aliases: { v3: "packbits" },
  settings: ["padding_encoding", "first_bit", "last_bit"],
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./items/bit-packing.ts")).createBitPacking,
} as const satisfies CodecDescriptor;

/** A draft of v3 called the codec `endian`. */
const bytes = {
  name: "bytes",
  kind: "array-to-bytes",
  role: "serializer",
  aliases: { v3: "bytes", alsoV3: ["endian"] },
  settings: ["endian"],
  parts: [{ setting: "endian", is: "word" }],
  allowed: { endian: ["little", "big"] },
  costClass: "none",
  describe: describeValues("endian"),
  engines: KERNEL,
  load: async () => (await import("./items/bytes.ts")).createBytes,
} as const satisfies CodecDescriptor;

const sharding = {
  name: "sharding_indexed",
  kind: "array-to-bytes",
  role: "serializer",
  aliases: { v3: "sharding_indexed" },
  settings: ["chunk_shape", "codecs", "index_codecs", "index_location"],
  nested: "codecs",
  costClass: "none",
  describe: ({ chunk_shape = null }) => describeValue(chunk_shape),
  engines: TYPESCRIPT,
  load: async () => (await import("./sharding/codec.ts")).loadSharding,
} as const satisfies CodecDescriptor;

/** Objects, or as a filter numbers of one type, in nested lists. */
const json2 = {
  name: "json2",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "json2" },
  objects: "object",
  orderless: true,
  parts: [],
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./items/tree.ts")).createJson2,
} as const satisfies CodecDescriptor;

const msgpack2 = {
  ...json2,
  name: "msgpack2",
  aliases: { v2: "msgpack2" },
  load: async () => (await import("./items/tree.ts")).createMsgpack2,
} as const;

const vlen = {
  kind: "array-to-bytes",
  role: "serializer",
  parts: [],
  costClass: "none",
  engines: TYPESCRIPT,
} as const satisfies Partial<CodecDescriptor>;

const vlenUtf8 = {
  ...vlen,
  name: "vlen-utf8",
  aliases: { v2: "vlen-utf8", v3: "vlen-utf8" },
  settings: [],
  objects: "string",
  load: async () => (await import("./items/vlen.ts")).createVlenUtf8,
} as const satisfies CodecDescriptor;

const vlenBytes = {
  ...vlen,
  name: "vlen-bytes",
  aliases: { v2: "vlen-bytes", v3: "vlen-bytes" },
  settings: [],
  objects: "binary",
  load: async () => (await import("./items/vlen.ts")).createVlenBytes,
} as const satisfies CodecDescriptor;

const vlenArray = {
  ...vlen,
  name: "vlen-array",
  aliases: { v2: "vlen-array" },
  objects: "object",
  load: async () => (await import("./items/vlen.ts")).createVlenArray,
} as const satisfies CodecDescriptor;

/** The layout of variable data in ZEP 7. Documents do not name it: the data type implies it. */
const zep0007 = {
  name: "zep0007",
  kind: "array-to-bytes",
  role: "serializer",
  aliases: {},
  costClass: "other",
  describe: describeValues("offset_size"),
  engines: TYPESCRIPT,
  load: async () => (await import("./items/zep0007.ts")).createZep0007,
} as const satisfies CodecDescriptor;

const astype = {
  name: "astype",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "astype", v3: "numcodecs.astype" },
  itemFilter: { encodes: NUMBERS, input: "decode_dtype" },
  parts: [{ setting: "encode_dtype", is: "type", isNeeded: true }],
  isLossy: true,
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./filters/number-filters.ts")).createAstype,
} as const satisfies CodecDescriptor;

const base64 = {
  name: "base64",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "base64" },
  parts: [],
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./filters/base64.ts")).createBase64,
} as const satisfies CodecDescriptor;

const bitround = {
  name: "bitround",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "bitround", v3: "numcodecs.bitround" },
  itemFilter: { encodes: FLOATS, significand: "keepbits" },
  parts: [{ setting: "keepbits", is: "number", isNeeded: true }],
  allowed: { keepbits: [0, 52] },
  isLossy: true,
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./filters/number-filters.ts")).createBitround,
} as const satisfies CodecDescriptor;

const bz2 = {
  name: "bz2",
  kind: "bytes-to-bytes",
  role: "compressor",
  aliases: { v1: "bz2", v2: "bz2", v3Draft: "bz2", v3: "numcodecs.bz2" },
  costClass: "other",
  describe: describeValues("level"),
  parseOption: levelOption(1),
  allowed: { level: [1, 9] },
  engines: TYPESCRIPT,
  load: async () => (await import("./bz2/codec.ts")).createBz2,
} as const satisfies CodecDescriptor;

const categorize = {
  name: "categorize",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "categorize" },
  objects: "string",
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./filters/categorize.ts")).createCategorize,
} as const satisfies CodecDescriptor;

const checksum = {
  kind: "bytes-to-bytes",
  role: "checksum",
  parts: [],
  costClass: "none",
  engines: TYPESCRIPT,
} as const satisfies Partial<CodecDescriptor>;

const adler32 = {
  ...checksum,
  name: "adler32",
  aliases: { v2: "adler32", v3: "numcodecs.adler32" },
  load: async () => (await import("./checksum.ts")).createAdler32,
} as const satisfies CodecDescriptor;

const crc32 = {
  ...checksum,
  name: "crc32",
  aliases: { v2: "crc32", v3: "numcodecs.crc32" },
  load: async () => (await import("./checksum.ts")).createCrc32,
} as const satisfies CodecDescriptor;

const crc32c = {
  ...checksum,
  name: "crc32c",
  aliases: { v2: "crc32c", v3: "crc32c", alsoV3: ["numcodecs.crc32c"] },
  settings: [],
  engines: KERNEL,
  load: async () => (await import("./checksum.ts")).createCrc32c,
} as const satisfies CodecDescriptor;

const fletcher32 = {
  ...checksum,
  name: "fletcher32",
  aliases: { v2: "fletcher32", v3: "numcodecs.fletcher32" },
  load: async () => (await import("./checksum.ts")).createFletcher32,
} as const satisfies CodecDescriptor;

const jenkinsLookup3 = {
  ...checksum,
  name: "jenkins_lookup3",
  aliases: { v2: "jenkins_lookup3", v3: "numcodecs.jenkins_lookup3" },
  costClass: "other",
  load: async () => (await import("./checksum.ts")).createJenkinsLookup3,
} as const satisfies CodecDescriptor;

const deflate = {
  kind: "bytes-to-bytes",
  role: "compressor",
  costClass: "deflate",
  engines: { node: "`node:zlib`", browser: "fflate" },
} as const satisfies Partial<CodecDescriptor>;

const gzip = {
  ...deflate,
  name: "gzip",
  aliases: { v2: "gzip", v3Draft: "gzip", v3: "gzip", alsoV3: ["numcodecs.gzip"] },
  settings: ["level"],
  describe: describeValues("level"),
  parseOption: levelOption(5),
  allowed: { level: [-1, 9] },
  load: async () => (await import("./deflate/codec.ts")).loadGzip(),
} as const satisfies CodecDescriptor;

const zlib = {
  ...deflate,
  name: "zlib",
  aliases: { v1: "zlib", v2: "zlib", v3Draft: "zlib", v3: "numcodecs.zlib" },
  describe: describeValues("level"),
  parseOption: levelOption(1),
  allowed: { level: [-1, 9] },
  load: async () => (await import("./deflate/codec.ts")).loadZlib(),
} as const satisfies CodecDescriptor;

/** The codec that v1 calls `gzip`. */
const v1Gzip = {
  ...deflate,
  name: "v1.gzip",
  aliases: { v1: "gzip" },
  load: async () => (await import("./deflate/codec.ts")).loadV1Gzip(),
} as const satisfies CodecDescriptor;

const delta = {
  name: "delta",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "delta", v3: "numcodecs.delta" },
  itemFilter: { encodes: NUMBERS, input: "dtype" },
  parts: [{ setting: "astype", is: "type" }],
  costClass: "none",
  engines: KERNEL,
  load: async () => (await import("./filters/number-filters.ts")).loadDelta(),
} as const satisfies CodecDescriptor;

const fixedscaleoffset = {
  name: "fixedscaleoffset",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "fixedscaleoffset", v3: "numcodecs.fixedscaleoffset" },
  itemFilter: { encodes: NUMBERS, input: "dtype" },
  parts: [
    { setting: "offset", is: "number", isNeeded: true },
    { setting: "scale", is: "number", isNeeded: true },
    { setting: "astype", is: "type" },
  ],
  isLossy: true,
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./filters/number-filters.ts")).createFixedScaleOffset,
} as const satisfies CodecDescriptor;

const lz4 = {
  name: "lz4",
  kind: "bytes-to-bytes",
  role: "compressor",
  aliases: { v2: "lz4", v3Draft: "lz4", v3: "numcodecs.lz4" },
  costClass: "lz4",
  decodesParts: () => true,
  parseOption: levelOption(1, "acceleration"),
  allowed: { acceleration: [1, 65_537] },
  engines: KERNEL,
  load: async () => (await import("./lz4.ts")).createLz4,
} as const satisfies CodecDescriptor;

const lzma = {
  name: "lzma",
  kind: "bytes-to-bytes",
  role: "compressor",
  aliases: { v1: "lzma", v2: "lzma", v3Draft: "lzma", v3: "numcodecs.lzma" },
  costClass: "other",
  parseOption([preset, ...more]) {
    assertNoMore(more);
    return { format: 1, check: -1, preset: preset === undefined ? null : parseLevel(preset), filters: null };
  },
  allowed: { preset: [0, 9] },
  engines: TYPESCRIPT,
  load: async () => (await import("./lzma/codec.ts")).createLzma,
} as const satisfies CodecDescriptor;

const packbits = {
  name: "packbits",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "packbits", v3: "numcodecs.packbits" },
  itemFilter: { encodes: BOOLEANS, output: "|u1" },
  parts: [],
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./filters/byte-filters.ts")).createPackbits,
} as const satisfies CodecDescriptor;

const quantize = {
  name: "quantize",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "quantize", v3: "numcodecs.quantize" },
  itemFilter: { encodes: FLOATS, input: "dtype" },
  parts: [
    { setting: "digits", is: "number", isNeeded: true },
    { setting: "astype", is: "type" },
  ],
  allowed: { digits: [-300, 300] },
  isLossy: true,
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./filters/number-filters.ts")).createQuantize,
} as const satisfies CodecDescriptor;

const shuffle = {
  name: "shuffle",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "shuffle", v3: "numcodecs.shuffle" },
  parts: [{ setting: "elementsize", is: "number" }],
  itemSize: "elementsize",
  allowed: { elementsize: [1, 2 ** 31 - 1] },
  costClass: "none",
  engines: KERNEL,
  load: async () => (await import("./filters/byte-filters.ts")).createShuffle,
} as const satisfies CodecDescriptor;

/** Compressors that blosc applies to blocks. */
export const INNER_CODECS = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"] as const;
export const BLOSC_SHUFFLES = ["noshuffle", "shuffle", "bitshuffle"] as const;

const blosc = {
  name: "blosc",
  kind: "bytes-to-bytes",
  role: "compressor",
  aliases: { v1: "blosc", v2: "blosc", v3Draft: "blosc", v3: "blosc", alsoV3: ["numcodecs.blosc"] },
  settings: ["cname", "clevel", "shuffle", "typesize", "blocksize"],
  costClass: ({ cname }) => (cname === "zstd" ? "zstd" : cname === "zlib" ? "deflate" : "lz4"),
  decodesParts: ({ cname }) => String(cname).startsWith("lz4"),
  describe: describeValues("cname", "clevel", "shuffle"),
  parseOption([cname = "lz4", clevel = "5", shuffle = "shuffle", ...more]) {
    assertNoMore(more);
    return { cname, clevel: parseLevel(clevel), shuffle, blocksize: 0 };
  },
  allowed: { cname: INNER_CODECS, clevel: [0, 9], shuffle: BLOSC_SHUFFLES },
  engines: { node: "kernels, `node:zlib` for zlib", browser: "kernels, fflate for zlib" },
  load: async () => (await import("./blosc/codec.ts")).createBlosc,
} as const satisfies CodecDescriptor;

const zstd = {
  name: "zstd",
  kind: "bytes-to-bytes",
  role: "compressor",
  aliases: { v2: "zstd", v3Draft: "zstd", v3: "zstd", alsoV3: ["numcodecs.zstd"] },
  settings: ["level", "checksum"],
  costClass: "zstd",
  describe: describeValues("level"),
  parseOption: levelOption(3),
  allowed: { level: [-131_072, 22] },
  engines: { node: "kernel; Node's own from 22.15", browser: "kernel" },
  load: async () => (await import("./zstd/codec.ts")).loadZstdCodec(),
} as const satisfies CodecDescriptor;

/** An implemented codec that comes with the library. */
type BuiltinCodec = CodecDescriptor & Required<Pick<CodecDescriptor, "load">>;

/** All built-in codecs, in the order of docs/codecs.md. */
export const BUILTIN_CODECS: readonly BuiltinCodec[] = [
  ...[blosc, zstd, lz4, gzip, zlib, v1Gzip, bz2, lzma],
  ...[adler32, crc32, crc32c, fletcher32, jenkinsLookup3],
  ...[astype, base64, bitround, categorize, delta, fixedscaleoffset, packbits, quantize, shuffle],
  ...[bytes, json2, msgpack2, sharding, bitPacking, vlenArray, vlenBytes, vlenUtf8, zep0007],
  ...[castValue, scaleOffset, transpose],
];

/** Names of the codecs that encode values, not bytes; `categorize` does if its type is an object type. */
export type ObjectCodecName = "categorize" | "json2" | "msgpack2" | "vlen-array" | "vlen-bytes" | "vlen-utf8";

/**
 * A codec that a program registers: its name, and all properties that differ from the defaults. By default it converts
 * bytes to bytes and has the same name in v2 and v3. Without a `role` it counts as a compressor, unless a v2 document
 * lists it among its filters.
 */
export type NewCodec = Pick<CodecDescriptor, "name"> & Partial<Omit<CodecDescriptor, "refused" | "load">>;

type KnownCodec = Omit<CodecDescriptor, "role"> & Partial<Pick<CodecDescriptor, "role">>;

const builtin = new Map<string, CodecDescriptor>();
for (const descriptor of [...BUILTIN_CODECS, pickle, pcodec, zfpy]) builtin.set(descriptor.name, descriptor);

const known = new Map<string, KnownCodec>(builtin);
const v2Ids = new Map<string, string>();
const v3Names = new Map<string, string>();
for (const { name, aliases } of builtin.values()) addAliases(name, aliases);

/** The implemented codecs that come with the library, in the order of docs/codecs.md. */
export function builtinCodecs(): readonly CodecDescriptor[] {
  return BUILTIN_CODECS;
}

/** All known codecs, including registered and unsupported ones. */
export function knownCodecs(): readonly KnownCodec[] {
  return [...known.values()];
}

/** The descriptor of the codec with this normal name. */
export function codecNamed(name: string): KnownCodec | undefined {
  return known.get(name);
}

/** The normal name of the codec with this v2 `id`; undefined if it is not known. */
export function nameOfV2(id: string): string | undefined {
  return v2Ids.get(id);
}

/** The normal name of the codec with this v3 `name`; undefined if it is not known. */
export function nameOfV3(name: string): string | undefined {
  return v3Names.get(name);
}

/**
 * Adds a registered codec. It replaces a codec of the same name; properties that it leaves out keep the values of the
 * built-in codec.
 *
 * @throws `invalid-option` if another codec has one of its names.
 */
export function addCodec(codec: NewCodec): void {
  const { name } = codec;
  const usual = builtin.get(name) ?? {
    kind: "bytes-to-bytes" as const,
    aliases: { v2: name, v3: name },
    costClass: "other" as const,
    parseOption: noOption,
  };
  const { refused: _, ...descriptor }: KnownCodec = { ...usual, ...codec };
  assertFree(descriptor);
  const before = known.get(name)?.aliases ?? {};
  if (before.v2 !== undefined) v2Ids.delete(before.v2);
  for (const alias of [before.v3, ...(before.alsoV3 ?? [])]) if (alias !== undefined) v3Names.delete(alias);
  known.set(name, descriptor);
  addAliases(name, descriptor.aliases);
}

/** Accepts a name without settings only. */
function noOption(parts: readonly string[]): Record<string, never> {
  assertNoMore(parts);
  return {};
}

function addAliases(name: string, { v2, v3, alsoV3 = [] }: CodecAliases): void {
  if (v2 !== undefined) v2Ids.set(v2, name);
  for (const alias of [v3, ...alsoV3]) if (alias !== undefined) v3Names.set(alias, name);
}

function assertFree({ name, aliases: { v2, v3, alsoV3 = [] } }: KnownCodec): void {
  const owners = [v2 && v2Ids.get(v2), ...[v3, ...alsoV3].map((alias) => alias && v3Names.get(alias))];
  const owner = owners.find((found) => found !== undefined && found !== name && found !== "");
  if (owner === undefined) return;
  throw new ZarrflowError("invalid-option", `the codec \`${owner}\` already has one of these names`, {
    codec: name,
    hint: `Register it as \`${owner}\` to replace that codec.`,
  });
}
