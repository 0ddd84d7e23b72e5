import { type JsonObject, type JsonValue, pointerTo } from "../../util/json-value.ts";
import type { CodecConfig } from "../array-metadata.ts";
import {
  assertInteger,
  assertList,
  assertWord,
  invalidMetadata,
  isJsonObject,
  member,
  memberOr,
  required,
} from "../assert-json.ts";
import type { Finding } from "../format.ts";
import type { OffsetSize, V3DataType } from "./data-type.ts";

/** The context in which a list of codecs is read. */
export interface CodecPlace {
  /** Type of the data before the list. */
  readonly type: V3DataType;
  /** Shape of a chunk before the list. */
  readonly shape: readonly number[];
  /** Pointer of the list. */
  readonly pointer: string;
  readonly findings: Finding[];
}

/** Codecs with a fixed output size; only these may encode an index. */
export const INDEX_CODECS = ["bytes", "crc32c"];

/**
 * Reads the configuration of `sharding_indexed`, with its lists in canonical form. `place.pointer` points to the
 * configuration; `parseList` reads the lists.
 *
 * @throws `invalid-metadata`
 */
export function parseSharding(
  configuration: JsonObject,
  place: CodecPlace,
  parseList: (json: JsonValue, place: CodecPlace) => CodecConfig[],
): JsonObject {
  const { pointer } = place;
  const chunkShape = parseInnerShape(required(configuration, "chunk_shape", pointer), place);
  const codecsAt = pointerTo(pointer, "codecs");
  const codecs = parseList(required(configuration, "codecs", pointer), {
    ...place,
    shape: chunkShape,
    pointer: codecsAt,
  });
  const indexAt = pointerTo(pointer, "index_codecs");
  const indexCodecs = parseList(required(configuration, "index_codecs", pointer), {
    ...place,
    type: { dataType: { kind: "uint", size: 8 } },
    pointer: indexAt,
  });
  const refused = indexCodecs.findIndex(({ name }) => !INDEX_CODECS.includes(name));
  if (refused >= 0) {
    const name = indexCodecs[refused]?.name;
    throw invalidMetadata(
      pointerTo(indexAt, refused),
      `\`${name}\` cannot encode a shard index, because its encoded size varies`,
    );
  }
  const location = memberOr(configuration, "index_location", "end");
  return {
    chunk_shape: chunkShape,
    codecs: codecs.map(asJson),
    index_codecs: indexCodecs.map(asJson),
    index_location: assertWord(location, ["start", "end"], pointerTo(pointer, "index_location")),
  };
}

function asJson({ name, configuration }: CodecConfig): JsonObject {
  return { name, configuration };
}

/** Reads the inner chunk shape, which must divide the shard's in every dimension. */
function parseInnerShape(json: JsonValue, { shape, pointer }: CodecPlace): number[] {
  const at = pointerTo(pointer, "chunk_shape");
  const list = assertList(json, at);
  if (list.length !== shape.length) {
    throw invalidMetadata(at, `must have ${shape.length} numbers, one per dimension`, json);
  }
  return list.map((item, d) => {
    const n = assertInteger(item, 1, pointerTo(at, d));
    if ((shape[d] ?? 1) % n !== 0)
      throw invalidMetadata(at, `does not divide the shard's shape, ${shape.join(" x ")}`, json);
    return n;
  });
}

/** Reads the canonical codec list in another codec's configuration. */
export function innerCodecs(json: JsonValue | undefined): CodecConfig[] {
  if (!Array.isArray(json)) return [];
  return json.filter(isJsonObject).map((codec) => {
    const configuration = member(codec, "configuration");
    return {
      name: String(member(codec, "name")),
      configuration: isJsonObject(configuration) ? configuration : {},
    };
  });
}

/** For each dimension after the transposes in `codecs`, the corresponding dimension of the array. */
export function dimensionsBehind(rank: number, codecs: readonly CodecConfig[]): number[] {
  const start = Array.from({ length: rank }, (_, d) => d);
  return codecs.reduce((dimensions, { name, configuration }) => {
    const order = name === "transpose" ? member(configuration, "order") : undefined;
    if (!Array.isArray(order) || order.length !== rank) return dimensions;
    return order.map((d) => dimensions[Number(d)] ?? 0);
  }, start);
}

/** The shape that results from the transposes in `codecs`. */
export function transposedShape(shape: readonly number[], codecs: readonly CodecConfig[]): number[] {
  return dimensionsBehind(shape.length, codecs).map((d) => shape[d] ?? 1);
}

/** Shape of the chunks in a shard, in the array's dimensions; undefined without shards. */
export function innerChunkShape(codecs: readonly CodecConfig[], rank: number): number[] | undefined {
  const at = codecs.findIndex(({ name }) => name === "sharding_indexed");
  const inner = codecs[at] && member(codecs[at].configuration, "chunk_shape");
  if (!Array.isArray(inner)) return undefined;
  const shape = new Array<number>(rank).fill(1);
  dimensionsBehind(rank, codecs.slice(0, at)).forEach((d, i) => {
    shape[d] = Number(inner[i] ?? 1);
  });
  return shape;
}

/** Offset size if the list uses ZEP 7's layout, directly or within shards. */
export function offsetSizeOf(codecs: readonly CodecConfig[]): OffsetSize | undefined {
  const layout = codecs.find(({ name }) => name === "zep0007");
  if (layout !== undefined) return layout.configuration.offset_size === 8 ? 8 : 4;
  const shards = codecs.find(({ name }) => name === "sharding_indexed");
  return shards && offsetSizeOf(innerCodecs(shards.configuration.codecs));
}
