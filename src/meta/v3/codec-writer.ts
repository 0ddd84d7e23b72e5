import { pointerTo } from "../../util/json-pointer.ts";
import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import type { CodecConfig } from "../array-metadata.ts";
import type { DataType } from "../data-type.ts";
import { writeExtension } from "../extension.ts";
import type { Losses } from "../losses.ts";
import { typeAfter } from "./cast.ts";
import { codecPointer, endianOf, parseV3Codec, statedV3Codec, writeV3Codec } from "./codec.ts";
import { normalTranspose, parseV3Codecs } from "./codec-list.ts";
import { isItemFilter, writeFilters } from "./filters.ts";
import { innerCodecs, offsetSizeOf, parseSharding, transposedShape } from "./sharding.ts";

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
