import { codecNamed } from "../../codecs/descriptors.ts";
import { pointerTo } from "../../util/json-pointer.ts";
import type { JsonValue } from "../../util/json-value.ts";
import type { CodecConfig } from "../array-metadata.ts";
import { assertCodecList, invalid, member, refusal } from "../assert-json.ts";
import { makesBytes } from "../codec-traits.ts";
import { isFixed } from "../data-type.ts";
import { hasByteOrder } from "../element-order.ts";
import { typeAfter } from "./cast.ts";
import { codecPointer, endianOf, parseV3Codec } from "./codec.ts";
import { noteV3Settings } from "./codec-settings.ts";
import { filterTypes, isItemFilter, itemType, placeFilter } from "./filters.ts";
import { type CodecPlace, parseSharding, transposedShape } from "./sharding.ts";

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
  if (codecs.length === 0) throw invalid(pointer, "needs an array-to-bytes codec", json);
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
    throw invalid(pointer, "this data type has its own layout and takes no vlen codec");
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
  if (late >= 0) throw invalid(pointer, `\`${codecs[late]?.name}\` must be before \`bytes\``);

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
  if (!type.oldStruct && !isText) throw invalid(bytesAt, "the data type needs a byte order");
  findings.push({
    message: `no byte order is stated for ${isText ? "text" : "a structured type"}; little-endian is used`,
    pointer: bytesAt,
  });
  return codecs.with(at, { ...bytes, configuration: { endian: "little" } });
}
