import type { CodecConfig } from "../meta/array-metadata.ts";
import { type DataType, isFixed } from "../meta/data-type.ts";
import { type DataTypeOption, parseDataTypeOption } from "../meta/data-type-option.ts";
import { objectType } from "../meta/v2/codecs.ts";
import { isItemFilter, itemType, placeFilter } from "../meta/v3/codec.ts";
import { parseV3Codecs } from "../meta/v3/codecs.ts";
import { plainBuffers } from "../util/bytes.ts";
import { ZarrflowError } from "../util/errors.ts";
import { assertKnown, type OptionNames } from "../util/options.ts";
import { cStrides, product } from "../util/shape.ts";
import { codecNamed } from "./catalog.ts";
import { createPipeline } from "./chain/codec-chain.ts";
import { codecStep } from "./chain/codec-step.ts";
import type { ChunkData, FixedData } from "./chunk-data.ts";
import type { BytesToBytesCodec, ChunkSpec, Codec, CodecPipeline } from "./codec.ts";
import { type ObjectValues, packValues, unpackValues } from "./items/object-values.ts";
import { copyBox } from "./kernels/copy-box.ts";
import { MAX_CHUNK_SIZE } from "./limits.ts";
import { type CodecJson, canonicalConfig, makeCodec, type ObjectCodecJson } from "./registry.ts";

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
    throw new ZarrflowError("invalid-option", "`shape` must be a list of whole numbers", { value: shape });
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

export type EncodeBytesOptions = ItemOptions;

export interface DecodeBytesOptions extends ItemOptions {
  /** Expected number of decoded bytes or values; by default as many as the codec states or returns, up to 2 GiB. */
  readonly size?: number | undefined;
}

const DECODE_BYTES_OPTIONS: OptionNames<DecodeBytesOptions> = {
  ...ITEM_OPTIONS,
  size: true,
};

/** Options for which a codec of arrays returns values. */
export interface DecodeValuesOptions extends DecodeBytesOptions {
  readonly dataType: "string" | "binary";
}

/**
 * Decodes bytes with one codec, given in the form of Zarr v2 (`{ id, ... }`) or v3 (`{ name, configuration }`). `bytes`
 * stay unchanged.
 *
 * - A bytes -> bytes codec returns bytes.
 * - An object codec, such as `vlen-utf8` or `json2`, returns an array of values.
 * - An array codec, such as `bytes`, `transpose` or `sharding_indexed`, needs the `dataType`, and the `shape` unless
 *   the chunk has one dimension. It returns the items in C order, little-endian, or an array of values for strings.
 *
 * @throws `invalid-option` for a missing or wrong option; `corrupt-chunk`, `codec-error`, `invalid-metadata`,
 *   `unsupported-codec`, `resource-limit`.
 * @example
 * ```ts
 * import { decodeBytes, encodeBytes } from "zarrflow/codecs";
 *
 * const config = { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1 };
 * const items = new Uint8Array(new Float32Array(1000).buffer);
 * const encoded = await encodeBytes(config, items, { itemSize: 4 });
 * const decoded = await decodeBytes(config, encoded, { size: items.length });
 * console.log(encoded.length < decoded.length); // true
 *
 * const texts = await encodeBytes({ id: "vlen-utf8" }, ["a", "b"]);
 * console.log(await decodeBytes({ id: "vlen-utf8" }, texts)); // [ 'a', 'b' ]
 *
 * const bigEndian = { name: "bytes", configuration: { endian: "big" } };
 * console.log((await decodeBytes(bigEndian, new Uint8Array([1, 2]), { dataType: "uint16" })).join()); // 2,1
 * ```
 */
export async function decodeBytes(
  config: CodecJson,
  bytes: Uint8Array,
  options: DecodeValuesOptions,
): Promise<unknown[]>;
export async function decodeBytes(
  config: ObjectCodecJson,
  bytes: Uint8Array,
  options?: Pick<DecodeBytesOptions, "size" | "shape">,
): Promise<unknown[]>;
export async function decodeBytes(
  config: CodecJson,
  bytes: Uint8Array,
  options?: DecodeBytesOptions,
): Promise<Uint8Array>;
export async function decodeBytes(
  config: CodecJson,
  bytes: Uint8Array,
  options: DecodeBytesOptions = {},
): Promise<Uint8Array | unknown[]> {
  assertKnown(options, DECODE_BYTES_OPTIONS);
  const { size } = options;
  const lone = standaloneCodec(config, options);
  const { dataType } = lone;
  const shape = options.shape ?? [itemsIn(size ?? 0, dataType)];
  const codec = await lone.make(shape);
  if (codec.kind === "bytes-to-bytes") {
    return stepBytes(codec, "decode", bytes, size, size ?? MAX_CHUNK_SIZE);
  }
  if (size !== undefined) assertSize(size, dataType, shape);
  const isCounted = options.shape !== undefined || size !== undefined;
  const pipeline = await lone.pipeline(codec, isCounted ? shape : [statedItems(codec, bytes, dataType)]);
  // Copy first: decoding may work in place.
  const data = await pipeline.decode(bytes.slice(), plainBuffers);
  return data.kind === "variable" ? unpackValues(data, dataType) : inCOrder(data);
}

/** Encodes bytes or values with one codec, given as for `decodeBytes`. They stay unchanged. */
export async function encodeBytes(
  config: CodecJson,
  bytes: Uint8Array | ObjectValues,
  options: EncodeBytesOptions = {},
): Promise<Uint8Array> {
  assertKnown(options, ITEM_OPTIONS);
  const lone = standaloneCodec(config, options);
  const { name, dataType } = lone;
  if (isFixed(dataType) !== bytes instanceof Uint8Array) {
    const wanted = isFixed(dataType) ? "bytes" : "an array of values";
    throw new ZarrflowError("invalid-option", `the codec encodes ${wanted}`, { codec: name });
  }
  const shape = options.shape ?? [itemsIn(bytes.length, dataType)];
  const codec = await lone.make(shape);
  if (codec.kind === "bytes-to-bytes") {
    if (bytes instanceof Uint8Array) return stepBytes(codec, "encode", bytes, bytes.length, bytes.length);
    throw new ZarrflowError("invalid-option", "the codec encodes bytes", { codec: name });
  }
  assertSize(bytes.length, dataType, shape);
  const pipeline = await lone.pipeline(codec, shape);
  return pipeline.encode(chunkOf(bytes, pipeline), plainBuffers);
}

async function stepBytes(
  codec: BytesToBytesCodec,
  direction: "decode" | "encode",
  bytes: Uint8Array,
  decodedSize: number | undefined,
  maxDecodedSize: number,
): Promise<Uint8Array> {
  const step = codecStep({ codec, decodedSize, maxDecodedSize }, direction, plainBuffers);
  return (await step(bytes)) as Uint8Array;
}

/** Number of whole items in `size` bytes, or of values. */
function itemsIn(size: number, dataType: DataType): number {
  return isFixed(dataType) ? Math.floor(size / dataType.size) : size;
}

/**
 * Checks that `size` bytes or values make up a chunk of `shape`.
 *
 * @throws `invalid-option`
 */
function assertSize(size: number, dataType: DataType, shape: readonly number[]): void {
  const expected = product(shape) * (isFixed(dataType) ? dataType.size : 1);
  if (size === expected) return;
  throw new ZarrflowError("invalid-option", "the size is not a multiple of the number of items", {
    expected,
    found: size,
  });
}

/** Number of items in a chunk, given only its bytes. */
function statedItems(
  codec: Exclude<Codec, BytesToBytesCodec>,
  bytes: Uint8Array,
  dataType: DataType,
): number {
  if (codec.kind === "array-to-bytes" && codec.statedItems) return codec.statedItems(bytes);
  if (codec.kind === "array-to-array") {
    const stored = codec.encodedSpec({ shape: [0], dataType, fillValue: null }).dataType;
    if (isFixed(stored)) return Math.floor(bytes.length / stored.size);
  }
  throw new ZarrflowError("invalid-option", "the number of items cannot be derived from the bytes", {
    codec: codec.name,
    hint: "Give `size` or `shape`.",
  });
}

/** Converts items or values in C order to a chunk that `pipeline` can encode. */
function chunkOf(bytes: Uint8Array | ObjectValues, { spec, strides }: CodecPipeline): ChunkData {
  const { shape, dataType } = spec;
  if (!(bytes instanceof Uint8Array)) return packValues(bytes, dataType, shape);
  const itemSize = isFixed(dataType) ? dataType.size : 1;
  // Copy first: encoding may work in place.
  const laidOut = new Uint8Array(bytes.length);
  copyBox(bytes, { offset: 0, strides: cStrides(shape) }, laidOut, { offset: 0, strides }, shape, itemSize);
  return { kind: "fixed", bytes: laidOut, itemSize, shape, strides };
}

function inCOrder({ bytes, itemSize, shape, strides }: FixedData): Uint8Array {
  const to = cStrides(shape);
  if (shape.every((n, d) => n === 1 || strides[d] === to[d])) return bytes;
  const items = new Uint8Array(bytes.length);
  copyBox(bytes, { offset: 0, strides }, items, { offset: 0, strides: to }, shape, itemSize);
  return items;
}
