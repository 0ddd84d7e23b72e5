/** Numeric types, each with the typed array that contains its items; complex numbers use two entries per item. */
export interface NumberArrays {
  readonly bool: Uint8Array;
  readonly int8: Int8Array;
  readonly int16: Int16Array;
  readonly int32: Int32Array;
  readonly int64: BigInt64Array;
  readonly uint8: Uint8Array;
  readonly uint16: Uint16Array;
  readonly uint32: Uint32Array;
  readonly uint64: BigUint64Array;
  readonly float16: Float32Array;
  readonly float32: Float32Array;
  readonly float64: Float64Array;
  readonly complex64: Float32Array;
  readonly complex128: Float64Array;
}

/** Integers and floats whose items are numbers in JavaScript. */
type NumberName =
  | "int8"
  | "int16"
  | "int32"
  | "uint8"
  | "uint16"
  | "uint32"
  | "float16"
  | "float32"
  | "float64";

export type TimeName = `datetime64[${string}]` | `timedelta64[${string}]`;
export type TextName = "string" | `U${number}`;
export type BytesName = "binary" | `S${number}` | `r${number}`;
export type StructName = `struct{${string}}`;

/** A data type in words, as in `ZarrArray.dataType`: `float32`, `datetime64[ns]`, `U5`, `S12`, `string`. */
export type DataTypeName = keyof NumberArrays | TimeName | TextName | BytesName | StructName | "object";

/** Data types grouped by the JavaScript type of their items. Times are bigints, as stored; bool are 0 and 1. */
export interface DataTypeGroups {
  readonly number: NumberName;
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

const GROUPS: { readonly [Group in keyof DataTypeGroups]: RegExp } = {
  number: /^(?:u?int(?:8|16|32)|float(?:16|32|64))$/,
  bigint: /^(?:u?int64$|datetime64\[|timedelta64\[)/,
  boolean: /^bool$/,
  string: /^(?:string|U\d+)$/,
  bytes: /^(?:binary|[Sr]\d+)$/,
};

/** True if the data type of this name matches a query. */
export function meetsQuery(name: DataTypeName, query: DataTypeQuery): boolean {
  if (name === query) return true;
  return Object.hasOwn(GROUPS, query) && GROUPS[query as keyof DataTypeGroups].test(name);
}
