import { ZarrflowError } from "../../util/errors.ts";
import { corrupt } from "../limits.ts";

/**
 * The model of LZMA: its states and its adaptive probabilities, all in one array. Each is the probability of a zero
 * bit, in 2048ths.
 */

/** The bits that select the probabilities of literals and matches. */
export interface LzmaProperties {
  /** High bits of the previous byte that a literal depends on. */
  readonly lc: number;
  /** Low bits of the position that a literal depends on. */
  readonly lp: number;
  /** Low bits of the position that a match depends on. */
  readonly pb: number;
}

export const EVEN = 1024;

const STATES = 12;
const POSITIONS = 16;

export const IS_MATCH = 0;
export const IS_REP = IS_MATCH + STATES * POSITIONS;
export const IS_REP_0 = IS_REP + STATES;
export const IS_REP_1 = IS_REP_0 + STATES;
export const IS_REP_2 = IS_REP_1 + STATES;
export const IS_LONG_REP_0 = IS_REP_2 + STATES;

/** Trees for slots, by length; for the low bits of near distances; for the lowest bits of far distances. */
export const SLOTS = IS_LONG_REP_0 + STATES * POSITIONS;
export const NEAR = SLOTS + 4 * 64;
export const ALIGN = NEAR + 128;

/** Lengths of matches, then of repeated matches; each has two choice bits and three kinds of trees. */
export const MATCH_LENGTHS = ALIGN + 16;
export const LENGTH_CHOICE_2 = 1;
export const LENGTH_LOW = 2;
export const LENGTH_MIDDLE = LENGTH_LOW + POSITIONS * 8;
export const LENGTH_HIGH = LENGTH_MIDDLE + POSITIONS * 8;
export const REP_LENGTHS = MATCH_LENGTHS + LENGTH_HIGH + 256;

export const LITERALS = REP_LENGTHS + LENGTH_HIGH + 256;
export const LITERAL_SIZE = 0x300;

export const MIN_MATCH = 2;
export const MAX_MATCH = 273;
/** The distance, minus one, that marks the end of the data. */
export const END_MARKER = -1;
/** From this slot on, distances have bits that are not in trees; lower slots are near distances. */
export const FAR_SLOT = 14;
export const ALIGN_BITS = 4;

/** The limit of both reference implementations of xz; the tables grow by 2^(lc + lp). */
const MAX_LITERAL_BITS = 4;

/** The most bytes of the probabilities. */
export const MODEL_SPACE = 2 * (LITERALS + (LITERAL_SIZE << MAX_LITERAL_BITS));

/** Number of probabilities. */
export function probabilityCount({ lc, lp }: Pick<LzmaProperties, "lc" | "lp">): number {
  return LITERALS + (LITERAL_SIZE << (lc + lp));
}

/**
 * Unpacks the properties byte.
 *
 * @throws `corrupt-chunk`, `codec-error`
 */
export function propertiesOf(byte: number): LzmaProperties {
  if (byte >= 9 * 5 * 5) throw corrupt("the LZMA properties are not valid");
  const properties = { lc: byte % 9, lp: Math.floor(byte / 9) % 5, pb: Math.floor(byte / 45) };
  if (hasLiteralBits(properties)) return properties;
  throw new ZarrflowError("codec-error", "LZMA data with this many literal contexts is not supported", {
    expected: `lc + lp up to ${MAX_LITERAL_BITS}`,
    found: properties.lc + properties.lp,
  });
}

export function propertiesByte({ lc, lp, pb }: LzmaProperties): number {
  return (pb * 5 + lp) * 9 + lc;
}

export function hasLiteralBits({ lc, lp }: Pick<LzmaProperties, "lc" | "lp">): boolean {
  return lc + lp <= MAX_LITERAL_BITS;
}

/** States below this follow a literal. */
export const LITERAL_STATES = 7;

export function stateAfterLiteral(state: number): number {
  return state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
}

export function stateAfterMatch(state: number): number {
  return state < LITERAL_STATES ? 7 : 10;
}

export function stateAfterRep(state: number): number {
  return state < LITERAL_STATES ? 8 : 11;
}

export function stateAfterShortRep(state: number): number {
  return state < LITERAL_STATES ? 9 : 11;
}
