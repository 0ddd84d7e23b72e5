import type { CodecConfig } from "../../meta/array-metadata.ts";
import { type DataType, isFixed } from "../../meta/data-type.ts";
import { type DataTypeOption, parseDataTypeOption } from "../../meta/data-type-option.ts";
import { objectType } from "../../meta/v2/codec-list.ts";
import { parseV3Codecs } from "../../meta/v3/codec-list.ts";
import { isItemFilter, itemType, placeFilter } from "../../meta/v3/filters.ts";
import type { OptionNames } from "../../util/check-options.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { type CodecJson, canonicalConfig } from "../canonical-config.ts";
import { createPipeline } from "../chain/pipeline.ts";
import type { ChunkSpec, Codec, CodecPipeline } from "../codec.ts";
import { codecNamed } from "../descriptors.ts";
import { makeCodec } from "../registry.ts";

/** Describes the items for a codec without an array around it. */
export interface ItemOptions {
  /**
   * Type of the items, as for `create`: `float32`, `<f4`, `string`. Array codecs such as `bytes` need it, and so do
   * filters that depend on items and do not name a type themselves, such as `bitround`.
   */
  readonly dataType?: DataTypeOption | undefined;
  /** Bytes per item for codecs that shuffle, if there is no `dataType`; 1 by default. */
  readonly itemSize?: number | undefined;
  /** Shape of the chunk, for array codecs; one dimension by default. */
  readonly shape?: readonly number[] | undefined;
}

export const ITEM_OPTIONS: OptionNames<ItemOptions> = {
  dataType: true,
  itemSize: true,
  shape: true,
};

/** A codec on its own, without a chain around it. */
export interface StandaloneCodec {
  readonly name: string;
  /** Type of the items; single bytes if it is not known. */
  readonly dataType: DataType;
  /**
   * Creates the codec for chunks of `shape`.
   *
   * @throws as `makeCodec`, and `invalid-option` if the type of the items is missing.
   */
  make(shape: readonly number[]): Promise<Codec>;
  /** An array codec as one call each way. If its output is an array, the items are then stored little-endian. */
  pipeline(codec: Codec, shape: readonly number[]): Promise<CodecPipeline>;
}

/** NumPy names of the object type. */
const OBJECT_TYPES = ["|O", "O", "object"];

const LITTLE_ENDIAN: CodecConfig = { name: "bytes", configuration: { endian: "little" } };

/** @throws `invalid-option` for missing or contradictory options, and as for reading the codec's metadata. */
export function standaloneCodec(json: CodecJson, options: ItemOptions): StandaloneCodec {
  const stated = canonicalConfig(json);
  const { name } = stated;
  const { shape, dataType: option } = options;
  const dataType = option === undefined ? impliedType(stated, options) : parseDataTypeOption(option).dataType;
  const isTyped = option !== undefined || !isFixed(dataType);
  if (!isTyped && isOfItems(name)) throw needsType(name);
  if (shape === undefined && needsShape(stated)) {
    throw lacking(name, "the shape of the chunk", "Give `shape`, such as [100, 100].");
  }
  if (shape && !shape.every((n) => Number.isSafeInteger(n) && n >= 0)) {
    throw new ZarrflowError("invalid-option", "`shape` must be whole numbers", { value: shape });
  }
  const isOfV3 = typeof json === "string" || "name" in json;
  const configFor = (of: readonly number[]) => (isOfV3 && isTyped ? placed(stated, dataType, of) : stated);
  const specFor = (of: readonly number[]): ChunkSpec => ({ shape: of, dataType, fillValue: null });
  return {
    name,
    dataType,
    async make(of) {
      const codec = await makeCodec(configFor(of), {
        spec: specFor(of),
        itemSize: isFixed(dataType) ? dataType.size : 1,
        endian: "little",
        pipelineOf: createPipeline,
      });
      if (codec.kind !== "bytes-to-bytes" && !isTyped) throw needsType(name);
      return codec;
    },
    pipeline({ kind }, of) {
      const leavesArray = kind === "array-to-array";
      return createPipeline([configFor(of), ...(leavesArray ? [LITTLE_ENDIAN] : [])], specFor(of));
    },
  };
}

/** The type of the items implied by the codec: values for an object codec, bytes otherwise. */
function impliedType({ name, configuration }: CodecConfig, { itemSize = 1 }: ItemOptions): DataType {
  const isOfText = name === "categorize" && !OBJECT_TYPES.includes(String(configuration.dtype));
  const objects = isOfText ? undefined : objectType(name);
  if (objects) return objects;
  if (Number.isSafeInteger(itemSize) && itemSize >= 1) return { kind: "raw", size: itemSize };
  throw new ZarrflowError("invalid-option", "`itemSize` must be a whole number, 1 or more", {
    value: itemSize,
  });
}

/** True if the codec needs the shape of a chunk: it does not work on exactly one dimension. */
function needsShape({ name, configuration: { order, chunk_shape } }: CodecConfig): boolean {
  if (name !== "transpose" && name !== "sharding_indexed") return false;
  const dimensions = name === "transpose" ? order : chunk_shape;
  return !Array.isArray(dimensions) || dimensions.length !== 1;
}

/** Completes a v3 codec as the list of codecs around it would: filters take their type from their place. */
function placed(config: CodecConfig, dataType: DataType, shape: readonly number[]): CodecConfig {
  const { name, configuration } = config;
  if (isItemFilter(config)) return placeFilter(config, itemType(dataType, "little"), "little");
  if (name !== "bytes" && name !== "sharding_indexed") return config;
  const type = { dataType, ...(!isFixed(dataType) && { offsetSize: 4 as const }) };
  const place = { type, shape, pointer: "/codecs", findings: [] };
  return parseV3Codecs([{ name, configuration }], place)[0] ?? config;
}

/** True if the codec cannot be created without the type of the items. */
function isOfItems(name: string): boolean {
  const known = codecNamed(name);
  return known !== undefined && known.kind !== "bytes-to-bytes" && known.objects === undefined;
}

function needsType(codec: string): ZarrflowError {
  return lacking(codec, "the type of the items", "Give `dataType`, such as `float32`.");
}

function lacking(codec: string, what: string, hint: string): ZarrflowError {
  return new ZarrflowError("invalid-option", `the codec needs ${what}`, { codec, hint });
}
