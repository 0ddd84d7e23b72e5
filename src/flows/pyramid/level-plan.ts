import { gridShape } from "../../meta/array-metadata.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { reducedShape } from "./reduce-blocks.ts";

/** One array of a pyramid. */
export interface LevelShape {
  readonly shape: readonly number[];
  /** By how much it is smaller than the level before, along each dimension; 1 for the first. */
  readonly factors: readonly number[];
  /** The same compared with the first level. */
  readonly scale: readonly number[];
}

/** Levels, the whole array among them; `auto`: until each dimension that shrinks is one chunk long. */
export type LevelsOption = number | "auto";

const MOST_LEVELS = 30;

interface LevelShapesOptions {
  readonly chunkShape: readonly number[];
  readonly levels: LevelsOption;
  /** Of the array, for errors. */
  readonly path: string;
  /** Spatial dimensions that the factor leaves out where it names others. */
  readonly unnamed?: readonly string[];
}

/**
 * The shapes of all levels. A dimension of one item does not shrink any more, nor does one without a factor.
 *
 * @throws `invalid-option` where nothing would shrink
 */
export function levelShapes(
  shape: readonly number[],
  factors: readonly number[],
  { chunkShape, levels, path, unnamed = [] }: LevelShapesOptions,
): LevelShape[] {
  const all: LevelShape[] = [{ shape, factors: shape.map(() => 1), scale: shape.map(() => 1) }];
  for (;;) {
    const last = all[all.length - 1] as LevelShape;
    const own = last.shape.map((n, d) => (n > 1 ? (factors[d] ?? 1) : 1));
    const isLarge = gridShape(last.shape, chunkShape).some((n, d) => n > 1 && (own[d] ?? 1) > 1);
    const isWanted = levels === "auto" ? isLarge : all.length < levels;
    if (!isWanted || own.every((factor) => factor === 1) || all.length === MOST_LEVELS) break;
    const scale = last.scale.map((n, d) => n * (own[d] ?? 1));
    all.push({ shape: reducedShape(last.shape, own), factors: own, scale });
  }
  if (all.length > 1 || levels === 1) return all;
  if (factors.every((factor) => factor === 1) && unnamed.length > 0) {
    throw new ZarrflowError(
      "invalid-option",
      "axes not named in the factor keep their length: the pyramid has one level",
      {
        path,
        hint: `Add ${unnamed.map((name) => `${name}=2`).join(",")} to --factor (in code factor).`,
      },
    );
  }
  if (factors.every((factor) => factor === 1)) {
    throw new ZarrflowError(
      "invalid-option",
      "with a factor of 1 nothing shrinks: the pyramid has one level",
      {
        path,
        hint: "Give a factor of 2 or more with --factor (in code factor).",
      },
    );
  }
  const reason = "each dimension that shrinks is one chunk already: the pyramid has one level";
  throw new ZarrflowError("invalid-option", reason, {
    path,
    hint: "Give the number of levels with --levels (in code levels), such as 3.",
  });
}

/** Items that lie between the first of a block and its middle. */
export function blockOffset(scale: number, method: string): number {
  return method === "nearest" ? 0 : (scale - 1) / 2;
}

/** A unit of whole chunks that the factors divide: blocks of units do not cross each other. */
export function unitOf(chunkShape: readonly number[], factors: readonly number[]): number[] {
  return chunkShape.map((n, d) => n * ((factors[d] ?? 1) / gcd(n, factors[d] ?? 1)));
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
