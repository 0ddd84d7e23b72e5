import type { CodecConfig } from "../meta/array-metadata.ts";
import type { DataType, Endian, FixedDataType } from "../meta/data-type.ts";
import type { Awaitable } from "../util/awaitable.ts";
import type { Buffers } from "../util/buffers.ts";
import type { ChunkData, PartFinder } from "./chunk-data.ts";

/** What a codec needs to know about the data at its place in the chain, before any chunk is seen. */
export interface ChunkSpec {
  readonly shape: readonly number[];
  readonly dataType: DataType;
  /** Little-endian bytes of the fill value; null where undefined. */
  readonly fillValue: Uint8Array | null;
}

/** The chunk of an array that is decoded. */
export interface ChunkPlace {
  readonly coords: readonly number[];
  /** The items that it holds of the array, in items: cut at the array's edge. */
  readonly region: { readonly start: readonly number[]; readonly shape: readonly number[] };
}

/**
 * Rearranges items without touching them, or computes each again. Fixed data are rearranged as strides: no byte is moved
 * by the codec itself. Variable data have no strides: their items move to a new buffer, and the old one is given back;
 * so do items that are computed.
 */
export interface ArrayToArrayCodec {
  readonly kind: "array-to-array";
  readonly name: string;
  /** The most bytes for each item that the codec holds besides what it is given and what it gives; absent: none. */
  readonly itemScratchSize?: number;
  /** The spec of what this codec hands to the next one when encoding. */
  encodedSpec(spec: ChunkSpec): ChunkSpec;
  /** The same items seen as the codec stores them. */
  encode(data: ChunkData, buffers: Buffers): ChunkData;
  /** The inverse of `encode`. */
  decode(data: ChunkData, buffers: Buffers, place?: ChunkPlace): Awaitable<ChunkData>;
  /** Strides of what it decodes, in items, where these are not the ones of what it is given. */
  readonly decodedStrides?: readonly number[];
  /** Items of a missing chunk, where these depend on the chunk; absent: they are the fill value. */
  decodeMissing?(buffers: Buffers, place: ChunkPlace): Awaitable<ChunkData>;
}

/**
 * Turns items in C order into bytes and back. May return a view of what it was given, and may change that in place.
 * Ownership passes on success: after an error the caller still owns what it handed in.
 */
export interface ArrayToBytesCodec {
  readonly kind: "array-to-bytes";
  readonly name: string;
  /** Encoded size in bytes where all chunks have the same; undefined for variable data. */
  readonly encodedSize: number | undefined;
  /** Type of the items that the encoded form consists of; absent where these are plain bytes. */
  readonly encodedDataType?: FixedDataType;
  /** The most bytes that encoding gives, where the codec does not work in place; for variable data an estimate. */
  readonly maxEncodedSize?: number;
  /** Decodes a run of whole items in place; absent where items do not lie one after the other. */
  decodeItems?(bytes: Uint8Array): void;
  /** The number of items that `bytes` state, where the format states one, for callers who know of no shape. */
  statedItems?(bytes: Uint8Array): number;
  /** The most bytes that the codec itself holds besides what it is given and what it gives; absent: none. */
  readonly scratchSize?: number;
  /**
   * Holds that the configuration can be encoded with, where only encoding looks at some of it.
   *
   * @throws `invalid-metadata`, `unsupported-codec`
   */
  assertEncodable?(): void;
  /** Takes ownership of `bytes`. @throws `corrupt-chunk` when the length is not what the spec promises. */
  decode(bytes: Uint8Array, buffers: Buffers): ChunkData | Promise<ChunkData>;
  /** Takes ownership of `data`, which lies in C order without gaps. */
  encode(data: ChunkData, buffers: Buffers): Uint8Array | Promise<Uint8Array>;
}

/**
 * Bytes to bytes: filters, compressors, checksums. Both directions write into a target that the caller owns and
 * return how many bytes they wrote. A synchronous core; a user's codec may answer with a promise.
 */
export interface BytesToBytesCodec {
  readonly kind: "bytes-to-bytes";
  readonly name: string;
  /** Type of the items that the encoded form consists of; absent where these are plain bytes. */
  readonly encodedDataType?: FixedDataType;
  /** The most bytes that encoding `decodedSize` bytes can need. */
  maxEncodedSize(decodedSize: number): number;
  /** The most bytes that the codec itself holds while it encodes or decodes `decodedSize` bytes; absent: none. */
  scratchSize?(decodedSize: number): number;
  /** Exactly how many bytes `decodedSize` bytes become, where the content does not matter; else undefined. */
  fixedEncodedSize?(decodedSize: number): number | undefined;
  /**
   * The size that `source` states of its decoded form, where the format states one; checked by the caller
   * against what the metadata promise before anything is allocated.
   */
  statedDecodedSize?(source: Uint8Array): number | undefined;
  /**
   * Holds that the configuration can be encoded with, where only encoding looks at some of it.
   *
   * @throws `invalid-metadata`, `unsupported-codec`
   */
  assertEncodable?(): void;
  encodeInto(source: Uint8Array, target: Uint8Array): number | Promise<number>;
  /**
   * Decodes into `target`, whose length bounds the output.
   *
   * @throws `corrupt-chunk` when the source is broken or would give more than `target` holds; `codec-error` when
   *   the codec cannot do these bytes.
   */
  decodeInto(source: Uint8Array, target: Uint8Array): number | Promise<number>;
  /**
   * Fills `target` with the bytes of the decoded form from `offset` on and decodes no more than these need; what that
   * leaves out is not checked. Absent where the format is decoded whole.
   *
   * @throws as `decodeInto`, and `corrupt-chunk` when the decoded data end before the range.
   */
  decodeRangeInto?(source: Uint8Array, offset: number, target: Uint8Array): void | Promise<void>;
}

export type Codec = ArrayToArrayCodec | ArrayToBytesCodec | BytesToBytesCodec;

/** A codec at its place in a chain, with the sizes that are known there before any chunk is read. */
export interface PlacedCodec<C extends Codec = Codec> {
  readonly codec: C;
  /** Bytes of the decoded form where every chunk has the same; undefined after a compressor and for variable data. */
  readonly decodedSize: number | undefined;
  /** The most bytes that the decoded form may have. */
  readonly maxDecodedSize: number;
}

/** What a codec is made for: its place in the chain. */
export interface CodecContext {
  readonly spec: ChunkSpec;
  /** Bytes of an item at this place; 1 where there are only bytes. */
  readonly itemSize: number;
  /** Byte order that the `bytes` codec in front has given to items. */
  readonly endian: Endian;
  /** Makes the chains of a codec that has codecs of its own; absent for a codec that stands alone. */
  readonly pipelineOf?: PipelineMaker;
}

/** @throws as `loadCodecs`. */
export type PipelineMaker = (configs: readonly CodecConfig[], spec: ChunkSpec) => Promise<CodecPipeline>;

/** Makes a codec of a configuration. @throws `invalid-metadata` when the configuration is not the codec's. */
export type CodecFactory = (configuration: CodecConfig["configuration"], context: CodecContext) => Codec;

/** Makes a codec that has codecs of its own. @throws as `CodecFactory`, and what making those throws. */
export type NestingCodecFactory = (...args: Parameters<CodecFactory>) => Promise<Codec>;

/**
 * A chunk's codecs fused into one call each way.
 *
 * `strides` is the layout, in items, that `decode` yields and `encode` wants (C order but for a `transpose`);
 * scatter into it and no item is moved twice.
 */
export interface CodecPipeline {
  readonly spec: ChunkSpec;
  readonly strides: readonly number[];
  /** Bytes of a decoded chunk; for variable data an estimate of one. */
  readonly decodedSize: number;
  /** The most bytes a chunk can have that zarrflow encodes; for variable data an estimate. */
  readonly maxEncodedSize: number;
  /** The most bytes that decode or encode holds at once besides its input and its output. */
  readonly scratchSize: number;
  /** What of these comes from the buffers that it is given; codecs keep the rest in memory of their own. */
  readonly pooledScratchSize: number;
  /** Finds parts of a chunk that are decoded without the rest; absent where that is not possible. */
  readonly partOf?: PartFinder | undefined;
  /** Makes the items of a missing chunk; absent where these are the fill value. */
  readonly decodeMissing?: ArrayToArrayCodec["decodeMissing"] | undefined;
  /**
   * Takes ownership of `encoded`, which came from `buffers`; the result's bytes are the caller's to give back.
   *
   * @param place the chunk, where codecs want to know which it is
   */
  decode(encoded: Uint8Array, buffers: Buffers, place?: ChunkPlace): Promise<ChunkData>;
  /** Takes ownership of `data.bytes`, which came from `buffers`; the result is the caller's to give back. */
  encode(data: ChunkData, buffers: Buffers): Promise<Uint8Array>;
}
