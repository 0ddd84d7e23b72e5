import type { ArrayMetadata, ZarrFormat } from "../../meta/array-metadata.ts";
import { packingOf, rereadInteger } from "../../meta/conventions/cf/packing.ts";
import { missingValueOf } from "../../meta/conventions/missing-value.ts";
import { type Numbers, typedArrayOf } from "../../meta/typed-array.ts";
import { fromFloat16Bits, toFloat16Bits } from "../../util/float16.ts";
import { missingOf } from "../slabs/decode/missing.ts";

/** How the items of an array are read and written as numbers, and which of them are missing. */
export interface NumberFormat {
  readonly itemSize: number;
  /** Returns bytes as numbers: a view, or a converted copy for float16. */
  read(bytes: Uint8Array): Numbers;
  /** Writes back numbers that `read` returned; does nothing if they are a view of the bytes. */
  write(numbers: Numbers, bytes: Uint8Array): void;
  readonly isFloat: boolean;
  /** Numbers that mean "missing", starting with the one to write; empty if no item is missing. */
  readonly missing: readonly (number | bigint)[];
}

/** Undefined for arrays whose items are not single numbers. Integers with the attribute `_Unsigned` are decoded. */
export function numberFormatOf(metadata: ArrayMetadata, zarrFormat: ZarrFormat): NumberFormat | undefined {
  const { dataType, attributes } = metadata;
  if (!["bool", "int", "uint", "float"].includes(dataType.kind) || !("size" in dataType)) return undefined;
  const { size } = dataType;
  const isFloat = dataType.kind === "float";
  const { reread } = packingOf(dataType, attributes) ?? {};
  const meant = reread ? ({ kind: reread.signed ? "int" : "uint", size } as const) : dataType;
  const Items = typedArrayOf(meant as typeof dataType);
  const isHalf = isFloat && size === 2;
  if (Items === undefined && !isHalf) return undefined;
  const read = (bytes: Uint8Array): Numbers => {
    if (Items) return new Items(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength / size);
    const bits = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2);
    return Float32Array.from(bits, fromFloat16Bits);
  };
  const write = (numbers: Numbers, bytes: Uint8Array) => {
    if (!isHalf) return;
    const bits = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2);
    for (let i = 0; i < bits.length; i++) bits[i] = toFloat16Bits(Number(numbers[i]));
  };
  const own = missingValueOf(metadata, zarrFormat);
  const listed = missingOf(metadata, zarrFormat, (value) => (reread ? rereadInteger(value, reread) : value));
  const writesNaN = isFloat && (listed.length === 0 || (own && Number.isNaN(read(own.slice())[0])));
  const missing = writesNaN ? [Number.NaN, ...listed] : listed;
  return { itemSize: size, isFloat, read, write, missing };
}
