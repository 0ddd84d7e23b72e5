import { gridShape } from "../../meta/array-metadata.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { reducedShape } from "./reduce-blocks.ts";

/** Shape of one level of a pyramid. */
export interface LevelShape {
  readonly shape: readonly number[];
  /** Reduction relative to the level before, along each dimension; 1 for the first level. */
  readonly factors: readonly number[];
  /** Reduction relative to the first level. */
  readonly scale: readonly number[];
}

/** Number of levels, including the first; `auto`: until each dimension that shrinks is one chunk long. */
export type LevelsOption = number | "auto";

const MOST_LEVELS = 30;

interface LevelShapesOptions {
  readonly chunkShape: readonly number[];
  readonly levels: LevelsOption;
  /** Path of the array, for errors. */
  readonly path: string;
  /** Spatial dimensions that a factor by names leaves out. */
  readonly unnamed?: readonly string[];
}

/**
 * Computes the shapes of all levels. Dimensions of length 1, and those without a factor, do not shrink.
 *
 * @throws `invalid-option` if nothing would shrink
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

/** Offset of a block's result from the block's first item, in items: 0 for `nearest`, the middle for other methods. */
export function blockOffset(scale: number, method: string): number {
  return method === "nearest" ? 0 : (scale - 1) / 2;
}

/** The smallest multiple of a chunk that the factors divide, so that blocks do not cross units. */
export function unitOf(chunkShape: readonly number[], factors: readonly number[]): number[] {
  return chunkShape.map((n, d) => n * ((factors[d] ?? 1) / gcd(n, factors[d] ?? 1)));
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
