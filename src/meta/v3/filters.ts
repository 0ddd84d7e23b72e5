import { codecNamed } from "../../codecs/catalog.ts";
import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import type { CodecConfig } from "../array-metadata.ts";
import { member, required } from "../assert-json.ts";
import type { DataType, Endian } from "../data-type.ts";
import { numpyItemSize, writeNumpyType } from "../v2/numpy-type.ts";
import { codecPointer, statedV3Codec } from "./codec.ts";
import { parseV3DataType, plainV3Type, type V3DataType } from "./data-type.ts";

/**
 * True for item filters. In v3 they are array -> array codecs before `bytes`; in the canonical list they are bytes ->
 * bytes codecs after it. Moving them keeps the encoded bytes if their item types have the byte order of `bytes`. The
 * canonical list uses that order; the order in v3's item types is ignored.
 */
export function isItemFilter({ name }: CodecConfig): boolean {
  return codecNamed(name)?.itemFilter !== undefined;
}

/** Settings with a filter's input and output item types. */
const INPUTS = ["dtype", "decode_dtype"];
const OUTPUTS = ["astype", "encode_dtype"];

/** NumPy's name for the items that `bytes` writes; undefined for items that filters cannot process. */
export function itemType(dataType: DataType, endian: Endian | undefined): string | undefined {
  const type = writeNumpyType(dataType, endian);
  return typeof type === "string" && type !== "|O" ? type : undefined;
}

/** Sets the byte order of a filter's item types to `endian`, and fills in an omitted input type. */
export function placeFilter(filter: CodecConfig, type: string | undefined, endian: Endian): CodecConfig {
  const { name, configuration } = filter;
  const input = codecNamed(name)?.itemFilter?.input;
  const complete =
    input === undefined || type === undefined || Object.hasOwn(configuration, input)
      ? configuration
      : { ...configuration, [input]: type };
  return { ...filter, configuration: inOrder(complete, endian === "big" ? ">" : "<") };
}

/** Sets the byte order of type strings to `mark`; also converts names such as `float64`, which some writers use. */
function inOrder(configuration: JsonObject, mark: "<" | ">"): JsonObject {
  const reorder = (value: JsonValue): JsonValue => {
    if (typeof value !== "string") return value;
    const plain = plainV3Type(value);
    const type = plain ? String(writeNumpyType(plain, "little")) : value;
    return type.replace(/^[<>]/, mark);
  };
  const members = Object.entries(configuration).map(([name, value]): [string, JsonValue] => [
    name,
    INPUTS.includes(name) || OUTPUTS.includes(name) ? reorder(value) : value,
  ]);
  return Object.fromEntries(members);
}

/** The item types before and after a placed filter. */
export function filterTypes({ name, configuration }: CodecConfig, type: string | undefined) {
  const named = (names: readonly string[]) =>
    names.map((one) => member(configuration, one)).find((value) => typeof value === "string");
  const input = named(INPUTS) ?? type;
  return { input, output: codecNamed(name)?.itemFilter?.output ?? named(OUTPUTS) ?? input };
}

/**
 * Writes filters after `bytes` in v3's form, and returns the byte order that `bytes` then needs; undefined if
 * impossible.
 */
export function writeFilters(
  filters: readonly CodecConfig[],
  dataType: DataType,
  endian: Endian | undefined,
):
  | { readonly json: JsonValue[]; readonly endian: Endian | undefined; readonly itemSize: number }
  | undefined {
  let type = itemType(dataType, endian);
  let order = endian;
  const written: { readonly stated: JsonValue | undefined; readonly filter: CodecConfig }[] = [];
  for (const filter of filters) {
    const { input, output } = filterTypes(filter, type);
    if (input === undefined || type === undefined || !sameItems(input, type)) return undefined;
    const before = type;
    const place = order ?? "little";
    written.push({ stated: statedV3Codec(filter, (stated) => placeFilter(stated, before, place)), filter });
    type = output;
    if (type?.startsWith("<")) order = "little";
    if (type?.startsWith(">")) order = "big";
  }
  // Use the byte order of `bytes`: zarr-python reinterprets its decoded output as the named type.
  const mark = order === "big" ? ">" : "<";
  const json = written.map(
    ({ stated, filter: { name, configuration } }) =>
      stated ?? {
        name: codecNamed(name)?.aliases.v3 ?? name,
        configuration: inOrder(configuration, mark),
      },
  );
  return { json, endian: order, itemSize: numpyItemSize(type) ?? 1 };
}

/** True if items of both types have the same size and byte order. */
function sameItems(a: string, b: string): boolean {
  return a[0] === b[0] && numpyItemSize(a) === numpyItemSize(b);
}

/**
 * The data type after the casts in `codecs`, a list at `pointer`.
 *
 * @throws `invalid-metadata`, `unsupported-data-type` at a cast.
 */
export function typeAfter(type: V3DataType, codecs: readonly CodecConfig[], pointer: string): V3DataType {
  return codecs.reduce((before, codec, i) => {
    if (codec.name !== "cast_value") return before;
    const at = `${codecPointer(codec, pointer, i)}/configuration`;
    return parseV3DataType(required(codec.configuration, "data_type", at), `${at}/data_type`);
  }, type);
}
