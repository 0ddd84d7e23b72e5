import { ZarrflowError } from "../../util/errors.ts";
import { roundToEven } from "./convert.ts";
import type { NumberType } from "./number-type.ts";
import { floatRounder, type Rounding } from "./round-float.ts";

/** Result of casting a number that is out of the range of the type. */
export type OutOfRange = "error" | "clamp" | "wrap";

/** Casts one number; 64-bit integers are bigints, all others numbers. */
export type Cast = (value: number | bigint) => number | bigint;

/**
 * Returns a function that casts single numbers to a type by value.
 *
 * @throws (the cast) `codec-error` for a number out of range, unless `outOfRange` sets a result, and for a number that
 *   is not finite if the type is an integer type.
 */
export function castTo(type: NumberType, rounding: Rounding, outOfRange: OutOfRange): Cast {
  if (type.kind !== "float") return castToInteger(type, rounding, outOfRange);
  const round = floatRounder(type.size === 1 ? 2 : type.size, rounding);
  return (value) => {
    const float = round(value);
    const isBeyond = !Number.isFinite(float) && (typeof value === "bigint" || Number.isFinite(value));
    if (isBeyond && outOfRange !== "clamp") throw beyond(value, type);
    return float;
  };
}

function castToInteger(type: NumberType, rounding: Rounding, outOfRange: OutOfRange): Cast {
  const { least, most } = integerRange(type);
  const bits = 8 * type.size;
  const round = ROUND[rounding];
  const keep: Cast = type.size === 8 ? BigInt : Number;
  return (value) => {
    if (typeof value === "number" && !Number.isFinite(value)) throw beyond(value, type);
    const integer = typeof value === "number" ? round(value) : value;
    if (integer >= least && integer <= most) return keep(integer);
    if (outOfRange === "error") throw beyond(value, type);
    if (outOfRange === "clamp") return keep(integer < least ? least : most);
    const whole = BigInt(integer);
    return keep(type.kind === "int" ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole));
  };
}

/** The smallest and the largest integer of a type. */
export function integerRange({ kind, size }: NumberType): { readonly least: bigint; readonly most: bigint } {
  const end = 1n << BigInt(8 * size - (kind === "int" ? 1 : 0));
  return { least: kind === "int" ? -end : 0n, most: end - 1n };
}

const ROUND: Readonly<Record<Rounding, (value: number) => number>> = {
  "nearest-even": roundToEven,
  "towards-zero": Math.trunc,
  "towards-positive": Math.ceil,
  "towards-negative": Math.floor,
  "nearest-away": (value) => {
    const whole = Math.trunc(value);
    return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole;
  },
};

function beyond(value: number | bigint, { kind, size }: NumberType): ZarrflowError {
  return new ZarrflowError("codec-error", `${value} is not a value of ${kind}${8 * size}`, {
    hint: "Set `out_of_range` for values outside the range of the type, or `scalar_map` for single values.",
  });
}
