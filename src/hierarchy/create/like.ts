import type { CodecJson } from "../../codecs/canonical-config.ts";
import type { CodecConfig } from "../../meta/array-metadata.ts";
import { type DataType, isFixed } from "../../meta/data-type.ts";
import { withoutShards } from "../../meta/shards.ts";
import { writeV3Codec } from "../../meta/v3/codec.ts";
import { writeFillV3 } from "../../meta/v3/fill-value.ts";
import { toPlain } from "../../util/json-value.ts";
import { assertArray, type ZarrArray } from "../node.ts";
import type { FillOption, NewArray } from "./metadata.ts";

/**
 * Describes a new array like an open one, for `create`: with its format, shape, data type, chunks, shards, codecs, fill
 * value, dimension names and attributes. Spread it into an object to override any of them.
 *
 * @example
 * ```ts
 * import { create, like, openArray } from "zarrflow";
 *
 * const t2m = await openArray("era5.zarr/t2m");
 * const celsius = await create("celsius.zarr", { ...like(t2m), chunks: [744, 11, 7], attributes: { units: "degC" } });
 * console.log(celsius.dataType, celsius.shape.join(" x ")); // float32 744 x 33 x 49
 * await celsius.abort();
 * ```
 */
export function like(array: ZarrArray): NewArray {
  assertArray(array);
  const { metadata, layout } = array;
  const { innerChunkShape, chunkShape } = metadata.chunkGrid;
  const { shape, dataType, chunkGrid, codecs, fillValue, dimensionNames, attributes } =
    withoutShards(metadata);
  // a plain value can be converted to another data type; other kinds are given as bytes
  const isPlain = PLAIN_KINDS.includes(dataType.kind);
  const fill = fillValue.bytes && isPlain ? writeFillV3(fillValue.bytes, dataType) : undefined;
  return {
    ...(layout.zarrFormat !== "v3-draft-2020" && { zarrFormat: layout.zarrFormat }),
    shape,
    dataType,
    chunks: chunkGrid.chunkShape,
    ...(innerChunkShape && { shards: chunkShape }),
    codecs: codecs.map((codec) => jsonOf(codec, isFixed(dataType) ? dataType.size : 1)),
    fillValue: fill === undefined ? fillValue.bytes : (toPlain(fill) as FillOption),
    ...(dimensionNames && { dimensionNames }),
    attributes: toPlain(attributes),
  };
}

const PLAIN_KINDS: readonly DataType["kind"][] = ["bool", "int", "uint", "float", "complex", "string"];

/** A codec in the form of v3, or with its own name if v3 has none for it. */
function jsonOf(codec: CodecConfig, itemSize: number): CodecJson {
  const { name, configuration } = codec;
  return toPlain(writeV3Codec(codec, itemSize) ?? { name, configuration }) as CodecJson;
}
