import type { ArrayChanges, PackedType, PackOption, ValueChanges } from "../flows/request/flow-options.ts";
import type { FillOption } from "../hierarchy/create/metadata.ts";
import type { DataTypeText } from "../meta/data-type-option.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { FlagValues, Options } from "./parse-arguments.ts";

/** Flags that change the values of arrays. */
export const valueOptions = {
  dtype: {
    type: "string",
    multiple: true,
    value: "[ARRAY:]TYPE",
    suggestions: ["float32", "float64", "int16", "int32"],
    summary:
      "data type to write, such as float32, for all numeric arrays except coordinates and other companions, or for arrays with a name or glob; values are cast, not scaled, and rejected if the type cannot hold them; may be repeated",
  },
  unpack: {
    type: "string",
    multiple: true,
    bare: "*",
    value: "ARRAY",
    summary:
      "store packed values unpacked, as floats: scale_factor, add_offset and _Unsigned applied, missing values as NaN; =t2m for one array; may be repeated",
  },
  pack: {
    type: "string",
    multiple: true,
    value: "[ARRAY:]TYPE[,SCALE,OFFSET]",
    suggestions: ["int16", "uint8"],
    summary:
      "pack values into integers: int16 scales by the range of the values, which takes one more read; int16,0.01,273.15 sets scale and offset; may be repeated",
  },
  "fill-value": {
    type: "string",
    multiple: true,
    value: "[ARRAY:]VALUE",
    summary: "fill value to write; missing values are replaced by it; may be repeated",
  },
  map: {
    type: "string",
    multiple: true,
    value: "[ARRAY:]MODULE",
    summary:
      "ES module whose default export computes the new values of each chunk, ({ data, region, coords }) => data; use only modules that you trust; may be repeated",
  },
  overflow: {
    type: "string",
    value: "clamp",
    choices: ["clamp"],
    effect: { with: ["dtype", "pack", "map"] },
    summary: "clamp: replace values that the type cannot hold by the nearest one, instead of rejecting them",
  },
} as const satisfies Options;

/** Converts these flags to options of a flow. @throws `invalid-option` */
export function valueChangesOf({
  dtype = [],
  unpack = [],
  pack = [],
  "fill-value": fills = [],
  map = [],
  overflow,
}: FlagValues<typeof valueOptions>): { readonly arrays?: ArrayChanges } {
  const arrays = new Map<string, ValueChanges>();
  const add = (name: string, changes: ValueChanges) => {
    const clamped = overflow === "clamp" ? ({ overflow } as const) : {};
    arrays.set(name, { ...arrays.get(name), ...changes, ...clamped });
  };
  for (const [name, dataType] of dtype.map(selected)) add(name, { dataType: dataType as DataTypeText });
  for (const name of unpack) add(name, { unpack: true });
  for (const [name, text] of pack.map(selected)) add(name, { pack: packOf(text) });
  for (const [name, text] of fills.map(selected)) add(name, { fillValue: fillOf(text) });
  for (const [name, module] of map.map(selected)) add(name, { map: module });
  return arrays.size === 0 ? {} : { arrays: Object.fromEntries(arrays) };
}

/**
 * Splits a value from the arrays that it is for; all arrays if none are named. The colon of a URL or a Windows drive
 * does not separate.
 */
function selected(text: string): [name: string, value: string] {
  const [, name, value] = /^((?!\w:[\\/])[^:]+):(?!\/\/)(.+)$/s.exec(text) ?? [];
  return name === undefined || value === undefined ? ["*", text] : [name, value];
}

function packOf(text: string): PackOption {
  const [dataType = "", scale, offset, ...more] = text.split(",");
  if (scale === undefined) return dataType as PackedType;
  const numbers = [scale, offset ?? "0"].map(Number);
  const [by = Number.NaN, from = Number.NaN] = numbers;
  if (more.length === 0 && !numbers.some(Number.isNaN)) {
    return { dataType: dataType as PackedType, scale: by, offset: from };
  }
  throw new ZarrflowError(
    "invalid-option",
    `\`${text}\` in --pack is not a type, or a type with scale and offset`,
    {
      hint: "Write int16, or int16,0.01,273.15.",
    },
  );
}

/** A number, a word such as NaN, or a boolean. */
function fillOf(text: string): FillOption {
  if (text === "true" || text === "false") return text === "true";
  if (/^[+-]?\d+$/.test(text) && !Number.isSafeInteger(Number(text))) return BigInt(text);
  const number = text.trim() === "" ? Number.NaN : Number(text);
  return Number.isNaN(number) ? text : number;
}
