import { plainBuffers } from "../util/buffers.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { BytesToBytesCodec } from "./codec.ts";
import { MAX_CHUNK_SIZE } from "./codec-chain.ts";
import { codecStep } from "./codec-step.ts";
import { type CodecJson, normalConfig } from "./normal-config.ts";
import { makeCodec } from "./registry.ts";

export interface DecodeBytesOptions {
  /** Bytes that must come out; by default as many as the codec states or gives, up to 2 GiB. */
  readonly size?: number;
}

export interface EncodeBytesOptions {
  /** Bytes an item, for codecs that shuffle; 1 by default. */
  readonly itemSize?: number;
}

/**
 * Decodes bytes by one bytes -> bytes codec, in the form of Zarr v2 (`{ id, ... }`) or v3 (`{ name, configuration }`).
 * `bytes` stay as they are.
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
 * ```
 */
export async function decodeBytes(
  config: CodecJson,
  bytes: Uint8Array,
  { size }: DecodeBytesOptions = {},
): Promise<Uint8Array> {
  const codec = await bytesCodec(config, 1);
  const placed = { codec, decodedSize: size, maxDecodedSize: size ?? MAX_CHUNK_SIZE };
  return (await codecStep(placed, "decode", plainBuffers)(bytes)) as Uint8Array;
}

/** Encodes bytes by one bytes -> bytes codec, given as for `decodeBytes`. `bytes` stay as they are. */
export async function encodeBytes(
  config: CodecJson,
  bytes: Uint8Array,
  { itemSize = 1 }: EncodeBytesOptions = {},
): Promise<Uint8Array> {
  const codec = await bytesCodec(config, itemSize);
  const placed = { codec, decodedSize: bytes.length, maxDecodedSize: bytes.length };
  return (await codecStep(placed, "encode", plainBuffers)(bytes)) as Uint8Array;
}

async function bytesCodec(json: CodecJson, itemSize: number): Promise<BytesToBytesCodec> {
  const config = normalConfig(json);
  const spec = { shape: [], dataType: { kind: "raw", size: itemSize }, fillValue: null } as const;
  const codec = await makeCodec(config, { spec, itemSize, endian: "little" });
  if (codec.kind === "bytes-to-bytes") return codec;
  throw new ZarrflowError("invalid-option", "the codec does not turn bytes into bytes", {
    codec: config.name,
  });
}
