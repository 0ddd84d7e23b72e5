export {
  fromPlain,
  JsonNumber,
  type JsonObject,
  type JsonValue,
  type PlainValue,
  toPlain,
} from "../util/json-value.ts";
export type {
  ArrayMetadata,
  ChunkGrid,
  ChunkKeyEncoding,
  CodecConfig,
  FillValue,
  GroupMetadata,
  NodeMetadata,
  Original,
  OriginalSpelling,
  ZarrFormat,
} from "./array-metadata.ts";
export { gridShape } from "./array-metadata.ts";
export type { CodecText } from "./codec-option.ts";
export { describeCodec } from "./codec-traits.ts";
export { consolidate, readConsolidatedV2 } from "./consolidated.ts";
export type { DataType, Endian, Field, FixedDataType } from "./data-type.ts";
export { isFixed } from "./data-type.ts";
export { describeDataType } from "./data-type-name.ts";
export type { DataTypeText } from "./data-type-option.ts";
export { detectFormat, detectionKeys, hierarchyFormat } from "./detect.ts";
export type {
  Documents,
  Finding,
  FormatDefinition,
  HierarchyKeys,
  NodeLayout,
  ParsedNode,
  WriteOptions,
} from "./format.ts";
export { type FormatOptions, formatNamed } from "./formats.ts";
export { decodeChunkKey, encodeChunkKey } from "./node-layout.ts";
export type { V1Order } from "./v1/array.ts";
export type { V2Options } from "./v2/v2.ts";
export { readConsolidatedV3 } from "./v3/consolidated.ts";
export { understandExtension } from "./v3-draft/form.ts";
