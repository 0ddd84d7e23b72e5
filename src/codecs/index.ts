/**
 * Codecs: plain functions from bytes to bytes and from arrays to bytes, and their chains.
 *
 * @module
 */

export type { NewCodec } from "./catalog.ts";
export { type ChainOptions, createPipeline, loadCodecs, type PipelineOptions } from "./chain/codec-chain.ts";
export { type ChunkForm, type CodecStep, codecStep, type Direction } from "./chain/codec-step.ts";
export type { ChunkData, FixedData, VariableData } from "./chunk-data.ts";
export type {
  ArrayToArrayCodec,
  ArrayToBytesCodec,
  BytesToBytesCodec,
  ChunkSpec,
  Codec,
  CodecContext,
  CodecFactory,
  CodecPipeline,
  NestingCodecFactory,
  PipelineMaker,
  PlacedCodec,
} from "./codec.ts";
export { chunkSpecOf } from "./codec.ts";
export type {
  CodecAliases,
  CodecDescriptor,
  CodecEngines,
  CodecKind,
  CodecRole,
  CostClass,
  ItemFilter,
} from "./descriptor.ts";
export type { ObjectValues } from "./items/object-values.ts";
export type { CodecJson, NumcodecsClass, NumcodecsCodec, ObjectCodecJson } from "./registry.ts";
export { type CodecLoader, codecNames, registerCodec } from "./registry.ts";
export type { ItemOptions } from "./standalone.ts";
export {
  type DecodeBytesOptions,
  type DecodeValuesOptions,
  decodeBytes,
  type EncodeBytesOptions,
  encodeBytes,
} from "./standalone.ts";
