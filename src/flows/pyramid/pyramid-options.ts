import { gridShape } from "../../meta/array-metadata.ts";
import type { CodecOption } from "../../meta/codec-option.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { nearestName } from "../../util/names.ts";
import { parseWholeNumber } from "../../util/numbers.ts";
import type { OptionNames } from "../../util/options.ts";
import { UNPACED_OPTIONS, type UnpacedOptions } from "../request/flow-options.ts";
import { type PyramidMethod, reducedShape } from "./reduce-blocks.ts";

export interface PyramidOptions extends UnpacedOptions {
  /**
   * Items along each spatial dimension that become one in the next level, or one number per name:
   * `{ z: 1, y: 2, x: 2 }`. By default 2.
   */
  readonly factor?: number | Readonly<Record<string, number>> | string | undefined;
  /**
   * How a block of items becomes one; by default `mode` for labels, masks and classes, `mean` for everything else. In a
   * dataset, a requested `mean` does not apply to classes.
   */
  readonly method?: PyramidMethod | undefined;
  /** Number of levels, including the first; by default `auto`: until each spatial dimension is one chunk long. */
  readonly levels?: LevelsOption | undefined;
  /** Names of the axes in order (`tczyx`, `zyx`), for an array whose dimensions do not have them. */
  readonly axes?: string | undefined;
  /** Compressor of all levels, or all of their codecs (`bitround:10,zstd:5`), as in `copy`; by default the source's. */
  readonly codec?: CodecOption | undefined;
  /** Format of all levels; by default the source's. */
  readonly to?: "v2" | "v3" | undefined;
  /** Action if the target exists; by default `error`. */
  readonly ifExists?: "error" | "skip" | "replace" | undefined;
  /** Also writes chunks that contain only the fill value. */
  readonly writeEmptyChunks?: boolean | undefined;
  /** Plans everything without writing. */
  readonly dryRun?: boolean | undefined;
}

export const PYRAMID_OPTIONS: OptionNames<PyramidOptions> = {
  ...UNPACED_OPTIONS,
  factor: true,
  method: true,
  levels: true,
  axes: true,
  codec: true,
  to: true,
  ifExists: true,
  writeEmptyChunks: true,
  dryRun: true,
};

interface Factors {
  /** The factor of each dimension; 1 for dimensions that are not spatial. */
  readonly factors: readonly number[];
  /** Spatial dimensions that a factor by names leaves out. */
  readonly unnamed: readonly string[];
}

/**
 * Returns the factor of each dimension.
 *
 * @throws `invalid-option` for an unknown or non-spatial dimension, and for anything but a whole number from 1 to 64
 */
export function factorsOf(
  factor: PyramidOptions["factor"],
  dimensions: readonly string[],
  spatial: readonly string[],
): Factors {
  const given = typeof factor === "string" ? parseFactor(factor) : (factor ?? 2);
  if (typeof given === "number") {
    assertFactor(given, "factor");
    return { factors: dimensions.map((name) => (spatial.includes(name) ? given : 1)), unnamed: [] };
  }
  for (const [name, value] of Object.entries(given)) {
    assertFactor(value, name);
    if (spatial.includes(name) || (value === 1 && dimensions.includes(name))) continue;
    const meant = nearestName(name, spatial);
    const reason = dimensions.includes(name)
      ? `dimension \`${name}\` is not spatial: its factor must be 1`
      : `there is no dimension \`${name}\``;
    throw new ZarrflowError("invalid-option", reason, {
      hint: meant ? `Did you mean \`${meant}\`?` : `Spatial dimensions are ${spatial.join(", ")}.`,
    });
  }
  return {
    factors: dimensions.map((name) => given[name] ?? 1),
    unnamed: spatial.filter((name) => !Object.hasOwn(given, name)),
  };
}

function parseFactor(text: string): number | Record<string, number> {
  const whole = parseWholeNumber(text);
  if (whole !== undefined) return whole;
  const factors: Record<string, number> = {};
  for (const part of text.split(",")) {
    const [, name = "", number = ""] = /^\s*(.+?)\s*=\s*(\d+)\s*$/.exec(part) ?? [];
    if (name === "") {
      throw new ZarrflowError("invalid-option", `\`${part}\` is not a factor`, {
        hint: "Write one number for all spatial dimensions, such as 2, or one for each: z=1,y=2,x=2.",
      });
    }
    factors[name] = Number(number);
  }
  return factors;
}

function assertFactor(value: unknown, name: string): void {
  if (Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= 64) return;
  throw new ZarrflowError("invalid-option", `invalid factor of ${name}`, {
    expected: "a whole number from 1 to 64",
    found: String(value),
  });
}

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
      "axes without a factor keep their length, so the pyramid has only one level",
      {
        path,
        hint: `Add ${unnamed.map((name) => `${name}=2`).join(",")} to --factor (in code factor).`,
      },
    );
  }
  if (factors.every((factor) => factor === 1)) {
    throw new ZarrflowError(
      "invalid-option",
      "with a factor of 1 nothing shrinks, so the pyramid has only one level",
      {
        path,
        hint: "Use a factor of 2 or more with --factor (in code factor).",
      },
    );
  }
  const reason = "each shrinking dimension already fits one chunk, so the pyramid has only one level";
  throw new ZarrflowError("invalid-option", reason, {
    path,
    hint: "Set the number of levels with --levels (in code levels), such as 3.",
  });
}

/** Offset of a block's result from the block's first item, in items: 0 for `nearest`, the middle for other methods. */
export function blockOffset(scale: number, method: string): number {
  return method === "nearest" ? 0 : (scale - 1) / 2;
}

/** The smallest multiple of a chunk that the factors divide, so that blocks do not cross units. */
export function blockUnit(chunkShape: readonly number[], factors: readonly number[]): number[] {
  return chunkShape.map((n, d) => n * ((factors[d] ?? 1) / gcd(n, factors[d] ?? 1)));
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
