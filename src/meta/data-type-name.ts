import type { DataType, Field } from "./data-type.ts";
import {
  areBig,
  isReal,
  NUMBER_KINDS,
  type NumberArrays,
  numberKindOf,
  type RealName,
} from "./number-kinds.ts";

export type TimeName = `datetime64[${string}]` | `timedelta64[${string}]`;

export type TextName = "string" | `U${number}`;

export type BytesName = "binary" | `S${number}` | `r${number}`;

export type StructName = `struct{${string}}`;

/** A data type in words, as in `ZarrArray.dataType`: `float32`, `datetime64[ns]`, `U5`, `S12`, `string`. */
export type DataTypeName = keyof NumberArrays | TimeName | TextName | BytesName | StructName | "object";

/**
 * Formats a data type for people, with v3's names, or NumPy's if v3 has none as short: `float32`, `datetime64[ns]`,
 * `S12`, `U5`, `struct{x: int32, y: float64}`.
 */
export function describeDataType(dataType: DataType): string {
  switch (dataType.kind) {
    case "string":
    case "binary":
    case "object":
      return dataType.kind;
    case "datetime":
    case "timedelta":
      return `${dataType.kind}64[${dataType.scale === 1 ? "" : dataType.scale}${dataType.unit}]`;
    case "fixed-bytes":
      return `S${dataType.size}`;
    case "fixed-text":
      return `U${dataType.size / 4}`;
    case "raw":
      return `r${dataType.size * 8}`;
    case "struct":
      return `struct{${dataType.fields.map(describeField).join(", ")}}`;
    default:
      return numberKindOf(dataType).name;
  }
}

function describeField({ name, dataType, shape }: Field): string {
  return `${name || "padding"}: ${describeDataType(dataType)}${shape ? `[${shape.join(", ")}]` : ""}`;
}

/** Data types grouped by the JavaScript type of their items. Times are bigints, as stored; bool are 0 and 1. */
export interface DataTypeGroups {
  readonly number: RealName;
  readonly bigint: "int64" | "uint64" | TimeName;
  readonly boolean: "bool";
  readonly string: TextName;
  readonly bytes: BytesName;
}

/** Argument of `ZarrArray.is`: the name of one data type, or all whose items are `number`, `bigint`, `string`, ... */
export type DataTypeQuery = DataTypeName | keyof DataTypeGroups;

/** The names of the data types that match a query. */
export type NameOfQuery<Query extends DataTypeQuery> = Query extends keyof DataTypeGroups
  ? DataTypeGroups[Query]
  : Query extends DataTypeName
    ? Query
    : never;

/** Names of the numeric types whose items are bigints, or numbers. */
const namesOf = (big: boolean) =>
  NUMBER_KINDS.filter((kind) => isReal(kind.type) && areBig(kind) === big)
    .map(({ name }) => name)
    .join("|");

const GROUPS: { readonly [Group in keyof DataTypeGroups]: RegExp } = {
  number: new RegExp(`^(?:${namesOf(false)})$`),
  bigint: new RegExp(`^(?:(?:${namesOf(true)})$|datetime64\\[|timedelta64\\[)`),
  boolean: /^bool$/,
  string: /^(?:string|U\d+)$/,
  bytes: /^(?:binary|[Sr]\d+)$/,
};

/** True if the data type of this name matches a query. */
export function meetsQuery(name: DataTypeName, query: DataTypeQuery): boolean {
  if (name === query) return true;
  return Object.hasOwn(GROUPS, query) && GROUPS[query as keyof DataTypeGroups].test(name);
}
