import { BLOSC_SHUFFLES, codecNamed, INNER_CODECS } from "../../codecs/catalog.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { type JsonObject, type JsonValue, pointerTo } from "../../util/json-value.ts";
import type { CodecConfig } from "../array-metadata.ts";
import {
  assertCodecList,
  assertInteger,
  assertWord,
  invalidMetadata,
  member,
  refusal,
  required,
} from "../assert-json.ts";
import { makesBytes } from "../codec-traits.ts";
import { type DataType, hasByteOrder, isFixed } from "../data-type.ts";
import type { Losses } from "../documents.ts";
import { parseExtension, writeExtension } from "../extension.ts";
import type { Finding } from "../format.ts";
import {
  codecPointer,
  endianOf,
  filterTypes,
  isItemFilter,
  itemType,
  parseV3Codec,
  placeFilter,
  statedV3Codec,
  typeAfter,
  writeFilters,
  writeV3Codec,
} from "./codec.ts";
import { type CodecPlace, innerCodecs, offsetSizeOf, parseSharding, transposedShape } from "./sharding.ts";

/**
 * Reads v3's codecs into a canonical list: item filters after `bytes`, inner lists of shards in canonical form too,
 * and `zep0007` for variable data without a vlen codec. The pipeline checks whether kinds and types fit together.
 *
 * @throws `invalid-metadata`, `unsupported-codec`, `unsupported-data-type`.
 */
export function parseV3Codecs(json: JsonValue, place: CodecPlace): CodecConfig[] {
  const { type, pointer, findings } = place;
  const parsed = assertCodecList(json, pointer).map((item, i) => {
    const at = pointerTo(pointer, i);
    noteV3Settings(item, at, findings);
    return parseV3Codec(item, at, findings);
  });
  const normal = parsed.map((codec) => normalTranspose(codec, place.shape.length));
  normal.forEach((codec, i) => {
    if (codec !== parsed[i])
      findings.push({ message: "`order` belongs to a draft of v3", pointer: pointerTo(pointer, i) });
  });
  const codecs = withShards(normal, place);
  if (!isFixed(type.dataType)) return withOffsets(codecs, place);
  if (codecs.length === 0) throw invalidMetadata(pointer, "needs an array-to-bytes codec", json);
  return withFilters(codecs, place);
}

/** Converts a transpose's old orders "C" and "F" to permutations. */
export function normalTranspose(codec: CodecConfig, rank: number): CodecConfig {
  const order = codec.name === "transpose" ? member(codec.configuration, "order") : undefined;
  if (order !== "C" && order !== "F") return codec;
  const dimensions = Array.from({ length: rank }, (_, d) => (order === "C" ? d : rank - 1 - d));
  return { ...codec, configuration: { order: dimensions } };
}

function withShards(codecs: readonly CodecConfig[], place: CodecPlace): CodecConfig[] {
  return codecs.map((codec, i) => {
    if (codec.name !== "sharding_indexed") return codec;
    const { stated, ...rest } = codec;
    const pointer = pointerTo(codecPointer(codec, place.pointer, i), "configuration");
    const inFront = codecs.slice(0, i);
    const shape = transposedShape(place.shape, inFront);
    const type = typeAfter(place.type, inFront, place.pointer);
    const configuration = parseSharding(
      codec.configuration,
      { ...place, type, shape, pointer },
      parseV3Codecs,
    );
    return { ...rest, configuration, ...(stated && !place.type.oldStruct && { stated }) };
  });
}

/** Inserts ZEP 7's layout for variable data without a vlen codec. */
function withOffsets(codecs: readonly CodecConfig[], { type, pointer }: CodecPlace): CodecConfig[] {
  const { offsetSize } = type;
  assertNoNumberCodecs(codecs, pointer);
  const hasVlen = codecs.some(isVlen);
  if (hasVlen && offsetSize === 8)
    throw invalidMetadata(pointer, "this data type has its own layout and takes no vlen codec");
  if (hasVlen || offsetSize === undefined || codecs.some(({ name }) => name === "sharding_indexed"))
    return [...codecs];
  if (offsetSize === "none") {
    throw refusal("unsupported-data-type", "/data_type", "`bytes` needs the codec `vlen-bytes`");
  }
  if (type.mayBeIgnored) {
    throw refusal("unsupported-data-type", "/data_type", "a type laid out as in ZEP 7 must be understood");
  }
  const layout: CodecConfig = { name: "zep0007", configuration: { offset_size: offsetSize } };
  const at = codecs.findIndex(({ name }) => name === "bytes");
  const bytes = codecs[at];
  if (bytes === undefined) {
    const start = codecs.findIndex(({ name }) => name !== "transpose");
    return codecs.toSpliced(start < 0 ? codecs.length : start, 0, layout);
  }
  if (member(bytes.configuration, "endian") === "big") {
    const endianAt = `${codecPointer(bytes, pointer, at)}/configuration/endian`;
    throw refusal("unsupported-codec", endianAt, "offsets are little-endian", "big");
  }
  return codecs.with(at, bytes.stated ? { ...layout, stated: bytes.stated } : layout);
}

/** True if the codec converts variable-length items to bytes. */
function isVlen({ name }: CodecConfig): boolean {
  return makesBytes(name) && codecNamed(name)?.objects !== undefined;
}

/** True if a codec is an item filter, or an array -> array codec that computes with numbers. */
function looksAtNumbers(codec: CodecConfig): boolean {
  const isOfArrays = codecNamed(codec.name)?.kind === "array-to-array" && codec.name !== "transpose";
  return isItemFilter(codec) || isOfArrays;
}

/** Rejects codecs that need numbers before the array -> bytes codec of variable data. */
function assertNoNumberCodecs(codecs: readonly CodecConfig[], pointer: string): void {
  const toBytes = codecs.findIndex(({ name }) => makesBytes(name));
  const inFront = toBytes < 0 ? codecs : codecs.slice(0, toBytes);
  const at = inFront.findIndex(looksAtNumbers);
  const codec = inFront[at];
  if (codec === undefined) return;
  const reason = "the codec needs numbers, not items of variable size";
  throw refusal("unsupported-codec", codecPointer(codec, pointer, at), reason, codec.name);
}

/** Checks the byte order of `bytes`, and moves the item filters before it to after it. */
function withFilters(codecs: readonly CodecConfig[], { type, pointer, findings }: CodecPlace): CodecConfig[] {
  const at = codecs.findIndex(({ name }) => name === "bytes");
  const bytes = codecs[at];
  const { dataType } = typeAfter(type, codecs.slice(0, Math.max(0, at)), pointer);
  if (bytes === undefined || !isFixed(dataType)) return [...codecs];
  const late = codecs.findIndex((codec, i) => i > at && isItemFilter(codec));
  if (late >= 0) throw invalidMetadata(pointer, `\`${codecs[late]?.name}\` must be before \`bytes\``);

  const start = codecs.findLastIndex((codec, i) => i < at && !isItemFilter(codec)) + 1;
  const bytesAt = `${codecPointer(bytes, pointer, at)}/configuration/endian`;
  const endian = endianOf(bytes, bytesAt);
  let items = itemType(dataType, endian);
  let needsOrder = hasByteOrder(dataType);
  const filters = codecs.slice(start, at).map((filter) => {
    const placed = placeFilter(filter, items, endian ?? "little");
    items = filterTypes(placed, items).output;
    needsOrder = items !== undefined && /^[<>]/.test(items);
    return placed;
  });
  if (endian !== undefined || !needsOrder)
    return [...codecs.slice(0, start), bytes, ...filters, ...codecs.slice(at + 1)];
  // GDAL writes text of fixed length without a byte order.
  const isText = dataType.kind === "fixed-text";
  if (!type.oldStruct && !isText) throw invalidMetadata(bytesAt, "the data type needs a byte order");
  findings.push({
    message: `no byte order is stated for ${isText ? "text" : "a structured type"}; little-endian is assumed`,
    pointer: bytesAt,
  });
  return codecs.with(at, { ...bytes, configuration: { endian: "little" } });
}

/** The context in which a list of codecs is written. */
export interface WrittenPlace {
  readonly dataType: DataType;
  /** Shape of a chunk before the list. */
  readonly shape: readonly number[];
  readonly pointer: string;
  readonly losses: Losses;
}

/**
 * Writes a canonical codec list in v3's form, with item filters before `bytes`. Reports a loss for codecs that v3
 * cannot represent.
 */
export function writeV3Codecs(codecs: readonly CodecConfig[], place: WrittenPlace): JsonValue[] {
  const { pointer, losses } = place;
  const found = codecs.findIndex(({ name }) => name === "bytes");
  const at = found < 0 ? codecs.length : found;
  const { dataType } = typeAfter({ dataType: place.dataType }, codecs.slice(0, at), pointer);
  const filters = takeWhile(codecs.slice(at + 1), isItemFilter);
  const written = codecs.slice(0, at).flatMap((codec, i) => {
    const shape = transposedShape(place.shape, codecs.slice(0, i));
    const before = typeAfter({ dataType: place.dataType }, codecs.slice(0, i), pointer);
    const codecAt = codecPointer(codec, pointer, i);
    return writeOne(codec, { ...place, dataType: before.dataType, shape, pointer: codecAt }, 1);
  });
  const bytes = codecs[at];
  let itemSize = 1;
  if (bytes !== undefined) {
    const bytesAt = codecPointer(bytes, pointer, at);
    const items = writeFilters(filters, dataType, endianOf(bytes, bytesAt));
    if (items === undefined) losses.require(bytesAt, "filters of items in a mixed byte order");
    else {
      const configuration: JsonObject = items.endian === undefined ? {} : { endian: items.endian };
      written.push(...items.json, writeV3Codec({ ...bytes, configuration }, 1) ?? "bytes");
      itemSize = items.itemSize;
    }
  }
  codecs.slice(at + 1 + filters.length).forEach((codec, i) => {
    const codecAt = codecPointer(codec, pointer, at + 1 + filters.length + i);
    if (isItemFilter(codec)) losses.require(codecAt, `\`${codec.name}\` after a codec of bytes`);
    written.push(...writeOne(codec, { ...place, pointer: codecAt }, i === 0 ? itemSize : 1));
  });
  return written;
}

/** Writes one codec at `place.pointer` as zero or one entries. */
function writeOne(codec: CodecConfig, place: WrittenPlace, itemSize: number): JsonValue[] {
  const { name } = codec;
  if (name === "zep0007") return statedBytes(codec);
  if (name === "sharding_indexed") return [writeSharding(codec, place)];
  const rank = place.shape.length;
  const json =
    statedV3Codec(codec, (stated) => normalTranspose(stated, rank)) ?? writeV3Codec(codec, itemSize);
  if (json === undefined) place.losses.require(place.pointer, `the codec \`${name}\``);
  return json === undefined ? [] : [json];
}

/** Writes ZEP 7's layout: no codec, or the `bytes` codec of the original document. */
function statedBytes({ stated }: CodecConfig): JsonValue[] {
  if (stated?.zarrFormat !== "v3") return [];
  return parseV3Codec(stated.json, stated.pointer).name === "bytes" ? [stated.json] : [];
}

function writeSharding(codec: CodecConfig, place: WrittenPlace): JsonValue {
  const { dataType, shape, pointer } = place;
  const inner = pointerTo(pointer, "configuration");
  const type = { dataType, offsetSize: offsetSizeOf([codec]) ?? 4 };
  const read = (stated: CodecConfig): CodecConfig => ({
    ...stated,
    configuration: parseSharding(
      stated.configuration,
      { type, shape, pointer: inner, findings: [] },
      parseV3Codecs,
    ),
  });
  const stated = statedV3Codec(codec, read);
  if (stated !== undefined) return stated;
  const { configuration } = codec;
  const innerShape = Array.isArray(configuration.chunk_shape) ? configuration.chunk_shape : [];
  return writeExtension("sharding_indexed", {
    chunk_shape: innerShape,
    codecs: writeV3Codecs(innerCodecs(configuration.codecs), {
      ...place,
      shape: innerShape.map(Number),
      pointer: pointerTo(inner, "codecs"),
    }),
    index_codecs: writeV3Codecs(innerCodecs(configuration.index_codecs), {
      ...place,
      dataType: { kind: "uint", size: 8 },
      pointer: pointerTo(inner, "index_codecs"),
    }),
    index_location: configuration.index_location ?? "end",
  });
}

function takeWhile<T>(items: readonly T[], holds: (item: T) => boolean): T[] {
  const end = items.findIndex((item) => !holds(item));
  return end < 0 ? [...items] : items.slice(0, end);
}

const MAX_LEVEL = 9;

/** Reports codec settings that violate v3. They affect encoding only, so chunks can still be read. */
export function noteV3Settings(codec: JsonValue, pointer: string, findings: Finding[]): void {
  try {
    assertV3Config(codec, pointer);
  } catch (error) {
    const at = isZarrflowError(error, "invalid-metadata") ? error.details.pointer : undefined;
    if (!isZarrflowError(error) || !at?.startsWith(`${pointer}/configuration/`)) throw error;
    findings.push({
      message: `${error.reason}: chunks can be read, but not written with this setting`,
      pointer: at,
    });
  }
}

/**
 * Checks a codec's settings against v3, which is stricter than the codecs themselves because other formats share
 * them. v3 has no automatic level or shuffle, and blosc needs the size of the items that it shuffles.
 *
 * @throws `invalid-metadata` at the setting.
 */
export function assertV3Config(codec: JsonValue, pointer: string): void {
  const { name, configuration } = parseExtension(codec, pointer);
  const at = pointerTo(pointer, "configuration");
  if (name === "gzip") assertLevel(configuration, "level", at);
  if (name !== "blosc") return;
  const cname = member(configuration, "cname");
  if (cname !== undefined) assertWord(cname, INNER_CODECS, pointerTo(at, "cname"));
  assertLevel(configuration, "clevel", at);
  const shuffle = member(configuration, "shuffle");
  if (shuffle !== undefined) assertWord(shuffle, BLOSC_SHUFFLES, pointerTo(at, "shuffle"));
  if (shuffle === "noshuffle" && member(configuration, "typesize") === undefined) return;
  assertInteger(required(configuration, "typesize", at), 1, pointerTo(at, "typesize"));
}

/** Checks an optional level from 0 to 9. */
export function assertLevel(configuration: JsonObject, name: string, at: string): void {
  const level = member(configuration, name);
  if (level === undefined) return;
  const pointer = pointerTo(at, name);
  if (assertInteger(level, 0, pointer) > MAX_LEVEL)
    throw invalidMetadata(pointer, `must be at most ${MAX_LEVEL}`, level);
}
