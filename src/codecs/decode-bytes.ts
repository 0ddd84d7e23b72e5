import type { CodecConfig } from "../meta/array-metadata.ts";
import { isFixed } from "../meta/data-type.ts";
import { parseV3DataType } from "../meta/v3-data-type.ts";
import { plainBuffers } from "../util/buffers.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { BytesToBytesCodec } from "./codec.ts";
import { codecStep } from "./codec-step.ts";
import { MAX_CHUNK_SIZE } from "./limits.ts";
import { type CodecJson, normalConfig, type ObjectCodecJson } from "./normal-config.ts";
import { decodeValues, encodeValues, type ObjectValues, valueTypeOf } from "./object-values.ts";
import { makeCodec } from "./registry.ts";

export interface DecodeBytesOptions {
  /** Bytes, or values, that must come out; by default as many as the codec states or gives, up to 2 GiB. */
  readonly size?: number;
}

export interface EncodeBytesOptions {
  /** Bytes an item, for codecs that shuffle; 1 by default. */
  readonly itemSize?: number;
  /** Type of the items as v3 names it, such as `float32`, for codecs that look at them; by default opaque bytes. */
  readonly dataType?: string;
}

/**
 * Decodes bytes by one codec, in the form of Zarr v2 (`{ id, ... }`) or v3 (`{ name, configuration }`): a bytes -> bytes
 * codec, or one of objects, such as `vlen-utf8` or `json2`, which gives an array of values. `bytes` stay as they are.
 *
 * @throws `corrupt-chunk`, `codec-error`, `unsupported-codec`, `resource-limit`.
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
 * ```
 */
export async function decodeBytes(
  config: ObjectCodecJson,
  bytes: Uint8Array,
  options?: DecodeBytesOptions,
): Promise<unknown[]>;
export async function decodeBytes(
  config: CodecJson,
  bytes: Uint8Array,
  options?: DecodeBytesOptions,
): Promise<Uint8Array>;
export async function decodeBytes(
  json: CodecJson,
  bytes: Uint8Array,
  { size }: DecodeBytesOptions = {},
): Promise<Uint8Array | unknown[]> {
  const config = normalConfig(json);
  const valueType = valueTypeOf(config);
  if (valueType) return decodeValues(config, valueType, bytes, size);
  const codec = await bytesCodec(config, {});
  const placed = { codec, decodedSize: size, maxDecodedSize: size ?? MAX_CHUNK_SIZE };
  return (await codecStep(placed, "decode", plainBuffers)(bytes)) as Uint8Array;
}

/** Encodes bytes, or values, by one codec, given as for `decodeBytes`. They stay as they are. */
export async function encodeBytes(
  json: CodecJson,
  bytes: Uint8Array | ObjectValues,
  options: EncodeBytesOptions = {},
): Promise<Uint8Array> {
  const config = normalConfig(json);
  const valueType = valueTypeOf(config);
  if (valueType && !(bytes instanceof Uint8Array)) return encodeValues(config, valueType, bytes);
  if (valueType || !(bytes instanceof Uint8Array)) {
    const wanted = valueType ? "an array of values" : "bytes";
    throw new ZarrflowError("invalid-option", `the codec encodes ${wanted}`, { codec: config.name });
  }
  const codec = await bytesCodec(config, options);
  const placed = { codec, decodedSize: bytes.length, maxDecodedSize: bytes.length };
  return (await codecStep(placed, "encode", plainBuffers)(bytes)) as Uint8Array;
}

async function bytesCodec(
  config: CodecConfig,
  { itemSize = 1, dataType }: EncodeBytesOptions,
): Promise<BytesToBytesCodec> {
  const stated = dataType === undefined ? undefined : parseV3DataType(dataType, "").dataType;
  const type = stated && isFixed(stated) ? stated : ({ kind: "raw", size: itemSize } as const);
  const spec = { shape: [], dataType: type, fillValue: null };
  const codec = await makeCodec(config, { spec, itemSize: type.size, endian: "little" });
  if (codec.kind === "bytes-to-bytes") return codec;
  throw new ZarrflowError("invalid-option", "the codec does not turn bytes into bytes", {
    codec: config.name,
  });
}
