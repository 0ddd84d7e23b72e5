import type { ZarrArray } from "../../hierarchy/node.ts";
import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import type { Packing } from "../../meta/conventions/cf/packing.ts";
import { type NumberCoding, numberCodingOf } from "../slabs/decode/number-coding.ts";

/** How stored numbers are shown. */
export interface NumberDecoding extends Pick<NumberCoding, "numbers" | "missing"> {
  /** Decodes one of `numbers`; NaN if it is missing. */
  readonly decode: (stored: number | bigint) => number;
  /** How numbers are packed, in words; undefined if they are not. */
  readonly packing: string | undefined;
  /** True if float32 represents every number that `decode` returns. */
  readonly isSingle: boolean;
}

const NAT = -(2n ** 63n);

/** True for data types whose items are drawn: numbers, including complex ones by their absolute value. */
export function isDrawn({ dataType: { kind } }: ArrayMetadata): boolean {
  return ["bool", "int", "uint", "float", "complex", "datetime", "timedelta"].includes(kind);
}

/** Decodes numbers like slices do, except for times, which stay numbers. */
export function numberDecoding(array: Pick<ZarrArray, "metadata" | "attributes" | "layout">): NumberDecoding {
  const { dataType } = array.metadata;
  const coding = numberCodingOf(array);
  if (coding === undefined) {
    return {
      numbers: (values) => values as ReturnType<NumberCoding["numbers"]>,
      missing: [],
      decode: (stored) => (stored === NAT ? Number.NaN : Number(stored)),
      packing: undefined,
      isSingle: dataType.kind === "bool",
    };
  }
  const { numbers, missing, isMissing, scaled, packing } = coding;
  const { kind, size } = coding.dataType;
  return {
    numbers,
    missing,
    decode: (stored) => (isMissing?.(stored) ? Number.NaN : Number(scaled ? scaled(stored) : stored)),
    packing: packing && packingText(packing),
    isSingle: scaled === undefined && size <= (kind === "float" ? 4 : 2),
  };
}

function packingText({ scale, offset, reread }: Packing): string {
  const number = reread === undefined ? "stored" : reread.signed ? "stored as signed" : "stored as unsigned";
  const scaled = scale === undefined ? number : `${number} × ${scale}`;
  return offset === undefined ? scaled : `${scaled} + ${offset}`;
}
