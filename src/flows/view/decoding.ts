import type { ArrayMetadata, ZarrFormat } from "../../meta/array-metadata.ts";
import { packingOf, unpacked } from "../../meta/conventions/cf/packing.ts";
import { missingValueOf } from "../../meta/conventions/missing-value.ts";
import { toPlain } from "../../util/json-plain.ts";
import { itemValue } from "../slabs/item-value.ts";

/** A stored number. */
type Stored = number | bigint;

/** How stored numbers are shown. */
export interface NumberDecoding {
  /** The number that a stored one means; NaN for one that means nothing is there. */
  readonly decode: (stored: Stored) => number;
  /** The stored numbers that mean that nothing is there, besides NaN and NaT. */
  readonly missing: readonly Stored[];
  /** How numbers are packed, in words; undefined where they are as they mean. */
  readonly packing: string | undefined;
  /** Whether float32 holds every number that `decode` gives. */
  readonly isSingle: boolean;
}

const NAT = -(2n ** 63n);

/** Data types whose items are drawn: numbers, of complex ones the absolute value. */
export function isDrawn({ dataType: { kind } }: ArrayMetadata): boolean {
  return ["bool", "int", "uint", "float", "complex", "datetime", "timedelta"].includes(kind);
}

/** Reads numbers as the CF conventions have it: the fill value, `missing_value`, `scale_factor`, `add_offset`, `_Unsigned`. */
export function numberDecoding(metadata: ArrayMetadata, format: ZarrFormat): NumberDecoding {
  const { dataType } = metadata;
  const attributes = toPlain(metadata.attributes);
  const packing = packingOf(dataType, attributes);
  const fill = missingValueOf(metadata, format);
  const fillValue = fill && itemValue(dataType, new DataView(fill.buffer, fill.byteOffset, fill.length));
  const asStored = (value: Stored): Stored => {
    if (dataType.kind === "float" && dataType.size === 4) return Math.fround(Number(value));
    if (!("size" in dataType) || dataType.size !== 8 || !/^u?int$/.test(dataType.kind)) return Number(value);
    return Number.isInteger(Number(value)) ? BigInt(value) : Number(value);
  };
  const isTime = dataType.kind === "datetime" || dataType.kind === "timedelta";
  const missing = new Set<Stored>(
    [fillValue, attributes.missing_value]
      .flat()
      .filter((value) => typeof value === "number" || typeof value === "bigint")
      .filter((value) => !Number.isNaN(value))
      .map(asStored),
  );
  if (isTime) missing.add(NAT);
  const { scale, offset, reread } = packing ?? {};
  return {
    decode(stored) {
      if (missing.has(stored)) return Number.NaN;
      return Number(packing ? unpacked(stored, packing) : stored);
    },
    missing: isTime ? [] : [...missing],
    packing: packing && packingText(scale, offset, reread?.signed),
    isSingle: scale === undefined && offset === undefined && "size" in dataType && isSmall(dataType),
  };
}

function isSmall({ kind, size }: { readonly kind: string; readonly size: number }): boolean {
  return kind === "float" ? size <= 4 : size <= 2;
}

function packingText(scale: number | undefined, offset: number | undefined, isSigned?: boolean): string {
  const number = isSigned === undefined ? "stored" : isSigned ? "stored as signed" : "stored as unsigned";
  const scaled = scale === undefined ? number : `${number} × ${scale}`;
  return offset === undefined ? scaled : `${scaled} + ${offset}`;
}
