export { fromPlain, type PlainValue, toPlain } from "../util/json-plain.ts";
export { JsonNumber, type JsonObject, type JsonValue } from "../util/json-value.ts";
export type {
  ArrayMetadata,
  ChunkGrid,
  ChunkKeyEncoding,
  CodecConfig,
  DialectName,
  FillValue,
  GroupMetadata,
  NodeMetadata,
  Stated,
  Wording,
} from "./array-metadata.ts";
export { gridShape } from "./array-metadata.ts";
export { decodeChunkKey, encodeChunkKey } from "./chunk-key.ts";
export { consolidate, readConsolidatedV2, readConsolidatedV3 } from "./consolidated.ts";
export type { DataType, Endian, Field, FixedDataType } from "./data-type.ts";
export { isFixed } from "./data-type.ts";
export { describeCodec, describeDataType } from "./describe.ts";
export { detectDialect, detectionKeys, hierarchyDialect } from "./detect.ts";
export type {
  Dialect,
  Documents,
  Finding,
  HierarchyKeys,
  NodeLayout,
  ParsedNode,
  WriteOptions,
} from "./format.ts";
export { type DialectOptions, dialectNamed } from "./formats.ts";
export type { V1Order } from "./v1/array.ts";
export type { V2Options } from "./v2/v2.ts";
export { understandExtension } from "./v3-draft/extension.ts";
