import type { CodecOption } from "../../meta/codec-option.ts";
import { wholeNumber } from "../../util/decimal.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { nearestName } from "../../util/names.ts";
import type { OptionNames } from "../../util/options.ts";
import { UNPACED_OPTIONS, type UnpacedOptions } from "../request/flow-options.ts";
import type { LevelsOption } from "./level-plan.ts";
import type { PyramidMethod } from "./reduce-blocks.ts";

export interface PyramidOptions extends UnpacedOptions {
  /**
   * Items along each spatial dimension that become one in the next level, or one number per name:
   * `{ z: 1, y: 2, x: 2 }`. By default 2.
   */
  readonly factor?: number | Readonly<Record<string, number>> | string | undefined;
  /**
   * How a block of items becomes one; by default `mode` for labels, masks and classes, `mean` for everything else. In a
   * data set, a requested `mean` does not apply to classes.
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
  readonly writeEmpty?: boolean | undefined;
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
  writeEmpty: true,
  dryRun: true,
};

/**
 * The factor of each dimension; 1 for dimensions that are not spatial.
 *
 * @throws `invalid-option` for an unknown or non-spatial dimension, and for anything but a whole number from 1 to 64
 */
export function factorsOf(
  factor: PyramidOptions["factor"],
  dimensions: readonly string[],
  spatial: readonly string[],
): number[] {
  const given = typeof factor === "string" ? parseFactor(factor) : (factor ?? 2);
  if (typeof given === "number") {
    assertFactor(given, "factor");
    return dimensions.map((name) => (spatial.includes(name) ? given : 1));
  }
  for (const [name, value] of Object.entries(given)) {
    assertFactor(value, name);
    if (spatial.includes(name) || (value === 1 && dimensions.includes(name))) continue;
    const meant = nearestName(name, spatial);
    const reason = dimensions.includes(name)
      ? `dimension \`${name}\` is not spatial: it has no factor but 1`
      : `there is no dimension \`${name}\``;
    throw new ZarrflowError("invalid-option", reason, {
      hint: meant ? `Did you mean \`${meant}\`?` : `Spatial dimensions are ${spatial.join(", ")}.`,
    });
  }
  return dimensions.map((name) => given[name] ?? 1);
}

/** Spatial dimensions that a factor by names leaves out; none for a single number. */
export function unnamedIn(factor: PyramidOptions["factor"], spatial: readonly string[]): string[] {
  const given = typeof factor === "string" ? parseFactor(factor) : (factor ?? 2);
  return typeof given === "number" ? [] : spatial.filter((name) => !Object.hasOwn(given, name));
}

function parseFactor(text: string): number | Record<string, number> {
  const whole = wholeNumber(text);
  if (whole !== undefined) return whole;
  const factors: Record<string, number> = {};
  for (const part of text.split(",")) {
    const [, name = "", number = ""] = /^\s*(.+?)\s*=\s*(\d+)\s*$/.exec(part) ?? [];
    if (name === "") {
      throw new ZarrflowError("invalid-option", `\`${part}\` is not a factor`, {
        hint: "Write a number for all spatial dimensions, such as 2, or one for each: z=1,y=2,x=2.",
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
