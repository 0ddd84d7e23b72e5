import type { ArrayMetadata, CodecConfig } from "../meta/array-metadata.ts";
import type { DataType, Endian, FixedDataType } from "../meta/data-type.ts";
import type { Awaitable } from "../util/awaitable.ts";
import type { Buffers } from "../util/bytes.ts";
import type { ChunkData, PartFinder } from "./chunk-data.ts";

/** Describes the chunks at a codec's place in the chain, before any chunk is read. */
export interface ChunkSpec {
  readonly shape: readonly number[];
  readonly dataType: DataType;
  /** Little-endian bytes of the fill value; null if it is undefined. */
  readonly fillValue: Uint8Array | null;
}

/** Identifies the chunk that is decoded. */
export interface ChunkPlace {
  readonly coords: readonly number[];
  /** The part of the array that the chunk covers, in items, cut at the array's edge. */
  readonly region: { readonly start: readonly number[]; readonly shape: readonly number[] };
}

/**
 * Rearranges items without looking at them, or computes each from another. To rearrange fixed data, the codec changes
 * strides and moves no bytes. Variable data have no strides, so their items move to a new buffer and the old one is
 * given back; the same holds for computed items.
 */
export interface ArrayToArrayCodec {
  readonly kind: "array-to-array";
  readonly name: string;
  /** The most bytes per item that the codec holds besides its input and output; absent if none. */
  readonly itemScratchSize?: number;
  /** The spec of the data that this codec passes to the next one when encoding. */
  encodedSpec(spec: ChunkSpec): ChunkSpec;
  /** Converts items to the form that the codec stores. */
  encode(data: ChunkData, buffers: Buffers): ChunkData;
  /** The inverse of `encode`. */
  decode(data: ChunkData, buffers: Buffers, place?: ChunkPlace): Awaitable<ChunkData>;
  /** Strides of the decoded data, in items, if they do not follow from the strides of the input. */
  readonly decodedStrides?: readonly number[];
  /** Creates the items of a missing chunk, if they depend on the chunk; absent if they are the fill value. */
  decodeMissing?(buffers: Buffers, place: ChunkPlace): Awaitable<ChunkData>;
}

/**
 * Converts items in C order to bytes and back. May change its input in place and return a view of it. Ownership passes
 * on success; after an error the caller still owns the input.
 */
export interface ArrayToBytesCodec {
  readonly kind: "array-to-bytes";
  readonly name: string;
  /** Encoded size in bytes if it is the same for all chunks; undefined for variable data. */
  readonly encodedSize: number | undefined;
  /** Type of the items in the encoded form; absent if it is plain bytes. */
  readonly encodedDataType?: FixedDataType;
  /** The most bytes of the encoded form, if the codec does not work in place; for variable data an estimate. */
  readonly maxEncodedSize?: number;
  /** Decodes a run of whole items in place; absent if items are not stored one after another. */
  decodeItems?(bytes: Uint8Array): void;
  /** Number of items that `bytes` state, for callers without a shape; absent if the format does not state it. */
  statedItems?(bytes: Uint8Array): number;
  /** The most bytes that the codec itself holds besides its input and output; absent if none. */
  readonly scratchSize?: number;
  /**
   * Checks the settings that only encoding uses.
   *
   * @throws `invalid-metadata`, `unsupported-codec`
   */
  assertEncodable?(): void;
  /**
   * Takes ownership of `bytes`.
   *
   * @throws `corrupt-chunk` if the length differs from what the spec promises.
   */
  decode(bytes: Uint8Array, buffers: Buffers): ChunkData | Promise<ChunkData>;
  /** Takes ownership of `data`, which must be in C order without gaps. */
  encode(data: ChunkData, buffers: Buffers): Uint8Array | Promise<Uint8Array>;
}

/**
 * Converts bytes to bytes: a filter, compressor or checksum. Both directions write to a target that the caller owns and
 * return the number of bytes written. Built-in codecs are synchronous; a user's codec may return a promise.
 */
export interface BytesToBytesCodec {
  readonly kind: "bytes-to-bytes";
  readonly name: string;
  /** Type of the items in the encoded form; absent if it is plain bytes. */
  readonly encodedDataType?: FixedDataType;
  /** The most bytes that encoding `decodedSize` bytes can need. */
  maxEncodedSize(decodedSize: number): number;
  /** The most bytes that the codec itself holds while it encodes or decodes `decodedSize` bytes; absent if none. */
  scratchSize?(decodedSize: number): number;
  /** The exact encoded size of `decodedSize` bytes, if it does not depend on their content; otherwise undefined. */
  fixedEncodedSize?(decodedSize: number): number | undefined;
  /**
   * The decoded size that `source` states, if the format states one. The caller checks it against the metadata before
   * it allocates anything.
   */
  statedDecodedSize?(source: Uint8Array): number | undefined;
  /**
   * Checks the settings that only encoding uses.
   *
   * @throws `invalid-metadata`, `unsupported-codec`
   */
  assertEncodable?(): void;
  encodeInto(source: Uint8Array, target: Uint8Array): number | Promise<number>;
  /**
   * Decodes into `target`, whose length bounds the output.
   *
   * @throws `corrupt-chunk` if the source is broken or decodes to more than `target` holds; `codec-error` if the codec
   *   does not support these bytes.
   */
  decodeInto(source: Uint8Array, target: Uint8Array): number | Promise<number>;
  /**
   * Fills `target` with the decoded bytes from `offset` on and decodes no more than it needs; the rest is not checked.
   * Absent if the format can only be decoded as a whole.
   *
   * @throws as `decodeInto`, and `corrupt-chunk` if the decoded data ends before the range.
   */
  decodeRangeInto?(source: Uint8Array, offset: number, target: Uint8Array): void | Promise<void>;
}

export type Codec = ArrayToArrayCodec | ArrayToBytesCodec | BytesToBytesCodec;

/** A codec at its place in a chain, with the sizes that are known there before any chunk is read. */
export interface PlacedCodec<C extends Codec = Codec> {
  readonly codec: C;
  /** Bytes of the decoded form if all chunks have the same; undefined after a compressor and for variable data. */
  readonly decodedSize: number | undefined;
  /** The most bytes that the decoded form may have. */
  readonly maxDecodedSize: number;
}

/** The place in a chain that a codec is created for. */
export interface CodecContext {
  readonly spec: ChunkSpec;
  /** Bytes of an item at this place; 1 if the input is plain bytes. */
  readonly itemSize: number;
  /** Byte order of the items, as set by the `bytes` codec before this one. */
  readonly endian: Endian;
  /** Creates the chains of a codec with nested codecs; absent for a codec without a chain around it. */
  readonly pipelineOf?: PipelineMaker;
}

/** @throws as `loadCodecs`. */
export type PipelineMaker = (configs: readonly CodecConfig[], spec: ChunkSpec) => Promise<CodecPipeline>;

/**
 * Creates a codec from a configuration.
 *
 * @throws `invalid-metadata` if the configuration is not valid for the codec.
 */
export type CodecFactory = (configuration: CodecConfig["configuration"], context: CodecContext) => Codec;

/**
 * Creates a codec that has nested codecs.
 *
 * @throws as `CodecFactory`, and what creating the nested codecs throws.
 */
export type NestingCodecFactory = (...args: Parameters<CodecFactory>) => Promise<Codec>;

/**
 * A chunk's codecs fused into one call each way.
 *
 * `strides` is the layout, in items, that `decode` returns and `encode` needs (C order unless there is a `transpose`).
 * Scatter items straight into it, so that none is moved twice.
 */
export interface CodecPipeline {
  readonly spec: ChunkSpec;
  readonly strides: readonly number[];
  /** Bytes of a decoded chunk; for variable data an estimate. */
  readonly decodedSize: number;
  /** The most bytes of a chunk that zarrflow encodes; for variable data an estimate. */
  readonly maxEncodedSize: number;
  /** The most bytes that decode or encode holds at once besides its input and its output. */
  readonly scratchSize: number;
  /** The part of `scratchSize` that is taken from the given buffers; codecs hold the rest in their own memory. */
  readonly pooledScratchSize: number;
  /** Finds parts of a chunk that can be decoded without the rest; absent if that is not possible. */
  readonly partOf?: PartFinder | undefined;
  /** Creates the items of a missing chunk; absent if they are the fill value. */
  readonly decodeMissing?: ArrayToArrayCodec["decodeMissing"] | undefined;
  /**
   * Takes ownership of `encoded`, which came from `buffers`; the caller gives the bytes of the result back.
   *
   * @param place the chunk, for codecs whose result depends on it
   */
  decode(encoded: Uint8Array, buffers: Buffers, place?: ChunkPlace): Promise<ChunkData>;
  /** Takes ownership of `data.bytes`, which came from `buffers`; the caller gives the result back. */
  encode(data: ChunkData, buffers: Buffers): Promise<Uint8Array>;
}

/** The spec of an array's chunks, for its codecs. */
export function chunkSpecOf({ chunkGrid, dataType, fillValue }: ArrayMetadata): ChunkSpec {
  return { shape: chunkGrid.chunkShape, dataType, fillValue: fillValue.bytes };
}
