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

/** What a codec without an array around it needs to know about the items. */
export interface ItemOptions {
  /**
   * What the items are, as `create` takes it: `float32`, `<f4`, `string`. Codecs of arrays, such as `bytes`, need it, and
   * so do those that look at items and do not name a type themselves, such as `bitround`.
   */
  readonly dataType?: DataTypeOption | undefined;
  /** Bytes an item where no `dataType` says so, for codecs that shuffle; 1 by default. */
  readonly itemSize?: number | undefined;
  /** Shape of the chunk, for codecs of arrays; one dimension by default. */
  readonly shape?: readonly number[] | undefined;
}

export const ITEM_OPTIONS: OptionNames<ItemOptions> = {
  dataType: true,
  itemSize: true,
  shape: true,
};

/** A codec by itself, without a chain around it. */
export interface StandaloneCodec {
  readonly name: string;
  /** Type of the items; single bytes where nothing is known of them. */
  readonly dataType: DataType;
  /** The codec for chunks of `shape`. @throws as `makeCodec`, and `invalid-option` when it lacks the type of the items. */
  make(shape: readonly number[]): Promise<Codec>;
  /** A codec of arrays as one call each way; behind one that leaves an array its items are stored little-endian. */
  pipeline(codec: Codec, shape: readonly number[]): Promise<CodecPipeline>;
}

/** NumPy's names of the type of objects. */
const OBJECT_TYPES = ["|O", "O", "object"];

const LITTLE_ENDIAN: CodecConfig = { name: "bytes", configuration: { endian: "little" } };

/** @throws `invalid-option` for what is missing or contradictory, and as reading the codec's metadata. */
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

/** What the items are by the codec alone: the values of one of objects, else bytes. */
function impliedType({ name, configuration }: CodecConfig, { itemSize = 1 }: ItemOptions): DataType {
  const isOfText = name === "categorize" && !OBJECT_TYPES.includes(String(configuration.dtype));
  const objects = isOfText ? undefined : objectType(name);
  if (objects) return objects;
  if (Number.isSafeInteger(itemSize) && itemSize >= 1) return { kind: "raw", size: itemSize };
  throw new ZarrflowError("invalid-option", "`itemSize` must be a whole number, 1 or more", {
    value: itemSize,
  });
}

/** Whether the codec works on chunks of other than one dimension. */
function needsShape({ name, configuration: { order, chunk_shape } }: CodecConfig): boolean {
  if (name !== "transpose" && name !== "sharding_indexed") return false;
  const dimensions = name === "transpose" ? order : chunk_shape;
  return !Array.isArray(dimensions) || dimensions.length !== 1;
}

/** What the list of codecs around it makes of a codec of v3: filters take their type from their place. */
function placed(config: CodecConfig, dataType: DataType, shape: readonly number[]): CodecConfig {
  const { name, configuration } = config;
  if (isItemFilter(config)) return placeFilter(config, itemType(dataType, "little"), "little");
  if (name !== "bytes" && name !== "sharding_indexed") return config;
  const type = { dataType, ...(!isFixed(dataType) && { offsetSize: 4 as const }) };
  const place = { type, shape, pointer: "/codecs", findings: [] };
  return parseV3Codecs([{ name, configuration }], place)[0] ?? config;
}

/** Whether the codec cannot be made without the type of the items. */
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
