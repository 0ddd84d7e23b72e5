import { ZarrflowError } from "../util/errors.ts";
import { castValue } from "./array-to-array/cast-value/descriptor.ts";
import { scaleOffset } from "./array-to-array/scale-offset/descriptor.ts";
import { transpose } from "./array-to-array/transpose/descriptor.ts";
import { bitPacking } from "./array-to-bytes/bit-packing/descriptor.ts";
import { bytes } from "./array-to-bytes/bytes/descriptor.ts";
import { sharding } from "./array-to-bytes/sharding/descriptor.ts";
import { json2, msgpack2 } from "./array-to-bytes/tree/descriptor.ts";
import { vlenArray, vlenBytes, vlenUtf8 } from "./array-to-bytes/vlen/descriptor.ts";
import { zep0007 } from "./array-to-bytes/zep0007/descriptor.ts";
import { astype } from "./bytes-to-bytes/astype/descriptor.ts";
import { base64 } from "./bytes-to-bytes/base64/descriptor.ts";
import { bitround } from "./bytes-to-bytes/bitround/descriptor.ts";
import { blosc } from "./bytes-to-bytes/blosc/descriptor.ts";
import { bz2 } from "./bytes-to-bytes/bz2/descriptor.ts";
import { categorize } from "./bytes-to-bytes/categorize/descriptor.ts";
import { adler32, crc32, crc32c, fletcher32, jenkinsLookup3 } from "./bytes-to-bytes/checksum/descriptor.ts";
import { gzip, v1Gzip, zlib } from "./bytes-to-bytes/deflate/descriptor.ts";
import { delta } from "./bytes-to-bytes/delta/descriptor.ts";
import { fixedscaleoffset } from "./bytes-to-bytes/fixedscaleoffset/descriptor.ts";
import { lz4 } from "./bytes-to-bytes/lz4/descriptor.ts";
import { lzma } from "./bytes-to-bytes/lzma/descriptor.ts";
import { packbits } from "./bytes-to-bytes/packbits/descriptor.ts";
import { quantize } from "./bytes-to-bytes/quantize/descriptor.ts";
import { shuffle } from "./bytes-to-bytes/shuffle/descriptor.ts";
import { zstd } from "./bytes-to-bytes/zstd/descriptor.ts";
import type { CodecAliases, CodecDescriptor } from "./descriptor.ts";
import { assertNoMore } from "./option-parts.ts";
import { pcodec, pickle, zfpy } from "./refused/descriptor.ts";

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
