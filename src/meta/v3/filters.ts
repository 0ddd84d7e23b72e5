import { codecNamed } from "../../codecs/descriptors.ts";
import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import type { CodecConfig } from "../array-metadata.ts";
import { member } from "../assert-json.ts";
import type { DataType, Endian } from "../data-type.ts";
import { numpyItemSize, writeNumpyType } from "../v2/numpy-type.ts";
import { statedV3Codec } from "./codec.ts";
import { plainV3Type } from "./data-type.ts";

/**
 * Filters that v3 sees as array -> array, before `bytes`, and the normal list as bytes -> bytes, behind it. Moved,
 * they give the same bytes when their item types have the byte order that `bytes` has; that is how they stand in
 * the normal list, while the one that v3's state counts for nothing.
 */
export function isItemFilter({ name }: CodecConfig): boolean {
  return codecNamed(name)?.itemFilter !== undefined;
}

/** Members that name item types, by the role they play. */
const INPUTS = ["dtype", "decode_dtype"];
const OUTPUTS = ["astype", "encode_dtype"];

/** Type of the items that `bytes` writes, as NumPy names it; undefined for what filters cannot work on. */
export function itemType(dataType: DataType, endian: Endian | undefined): string | undefined {
  const type = writeNumpyType(dataType, endian);
  return typeof type === "string" && type !== "|O" ? type : undefined;
}

/** The filter with its types in the order of `endian`, and the one it leaves out, that of its place, said. */
export function placeFilter(filter: CodecConfig, type: string | undefined, endian: Endian): CodecConfig {
  const { name, configuration } = filter;
  const input = codecNamed(name)?.itemFilter?.input;
  const complete =
    input === undefined || type === undefined || Object.hasOwn(configuration, input)
      ? configuration
      : { ...configuration, [input]: type };
  return { ...filter, configuration: inOrder(complete, endian === "big" ? ">" : "<") };
}

/** Type strings with `mark` as their byte order; names such as `float64`, which some writers use, become ones. */
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

/** The item types before and behind a placed filter. */
export function filterTypes({ name, configuration }: CodecConfig, type: string | undefined) {
  const named = (names: readonly string[]) =>
    names.map((one) => member(configuration, one)).find((value) => typeof value === "string");
  const input = named(INPUTS) ?? type;
  return { input, output: codecNamed(name)?.itemFilter?.output ?? named(OUTPUTS) ?? input };
}

/** What v3 writes for filters behind `bytes`, and the byte order that `bytes` then has; undefined when it cannot. */
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
  // In the byte order of `bytes`: zarr-python views what that decodes as the type that is named.
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

/** Whether items of both types lie alike: as large, in the same byte order. */
function sameItems(a: string, b: string): boolean {
  return a[0] === b[0] && numpyItemSize(a) === numpyItemSize(b);
}
