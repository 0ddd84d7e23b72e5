import type { ZarrArray } from "../../../hierarchy/node.ts";
import { type Packing, packingOf, rereadInteger, unpacked } from "../../../meta/conventions/cf/packing.ts";
import { outsideValidRange } from "../../../meta/conventions/cf/valid-range.ts";
import type { DataType } from "../../../meta/data-type.ts";
import { typedArrayOf } from "../../../meta/typed-array.ts";
import type { TypedValues } from "../typed-values.ts";
import { missingOf } from "./missing.ts";

export type NumberType = Extract<DataType, { readonly kind: "int" | "uint" | "float" }>;
export type Numbers = ArrayLike<number | bigint> & Iterable<number | bigint>;
export type Test = (value: number | bigint) => boolean;

/** Interpretation of the stored numbers of an array according to the CF conventions. */
export interface NumberCoding {
  /** Data type of the numbers after `_Unsigned` is applied. */
  readonly dataType: NumberType;
  /** Converts stored values to numbers with the intended sign, the input of the functions below. */
  readonly numbers: (values: TypedValues) => Numbers;
  /** Absent if numbers are not packed. */
  readonly packing: Packing | undefined;
  /** The numbers that mark missing items, besides NaN. */
  readonly missing: readonly (number | bigint)[];
  /** True for these numbers; absent if there are no such numbers. */
  readonly isListed: Test | undefined;
  /** True for these numbers, and for those outside the valid range; absent if neither applies. */
  readonly isMissing: Test | undefined;
  /** Unpacks a number; absent if nothing scales it. */
  readonly scaled: ((value: number | bigint) => number | bigint) | undefined;
}

/**
 * Returns the coding according to the fill value, `missing_value`, `valid_range`, `scale_factor`, `add_offset` and
 * `_Unsigned`; undefined for items other than integers and floats.
 *
 * @param isCoordinate true if it contains the labels of its own dimension, which never have missing values
 */
export function numberCodingOf(
  { metadata, attributes, layout }: Pick<ZarrArray, "metadata" | "attributes" | "layout">,
  isCoordinate = false,
): NumberCoding | undefined {
  const { dataType } = metadata;
  if (dataType.kind !== "int" && dataType.kind !== "uint" && dataType.kind !== "float") return undefined;
  const packing = packingOf(dataType, attributes);
  const { scale, offset } = packing ?? {};
  const stored = storedNumbers(dataType, packing);
  const missing = isCoordinate ? [] : missingOf(metadata, layout.zarrFormat, stored.reread);
  const outside = outsideValidRange(attributes, (value) =>
    Number.isInteger(value) ? Number(stored.reread(value)) : value,
  );
  const isListed = listTest(missing);
  const isOutside = isCoordinate ? undefined : outside;
  return {
    ...{ dataType: stored.dataType, numbers: stored.numbers, packing, missing, isListed },
    isMissing:
      isListed && isOutside ? (value) => isListed(value) || isOutside(value) : (isListed ?? isOutside),
    scaled:
      scale === undefined && offset === undefined
        ? undefined
        : (value) => unpacked(value, { scale, offset, reread: undefined }),
  };
}

interface StoredNumbers extends Pick<NumberCoding, "dataType" | "numbers"> {
  readonly reread: (value: number | bigint) => number | bigint;
}

function storedNumbers(dataType: NumberType, packing: Packing | undefined): StoredNumbers {
  const { reread } = packing ?? {};
  if (!reread || dataType.kind === "float") {
    return { dataType, numbers: (values) => values as Numbers, reread: (value) => value };
  }
  const meant = { kind: reread.signed ? "int" : "uint", size: dataType.size } as const;
  const Other = typedArrayOf(meant) ?? Uint8Array;
  return {
    dataType: meant,
    numbers: (values) => {
      const { buffer, byteOffset, length } = values as Uint8Array<ArrayBuffer>;
      return new Other(buffer, byteOffset, length) as Numbers;
    },
    reread: (value) => rereadInteger(value, reread),
  };
}

function listTest(missing: readonly (number | bigint)[]): Test | undefined {
  const [only] = missing;
  if (missing.length > 1) return (value) => missing.includes(value);
  return only === undefined ? undefined : (value) => value === only;
}
