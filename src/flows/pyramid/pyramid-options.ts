import type { CodecOption } from "../../meta/codec-option.ts";
import type { OptionNames } from "../../util/check-options.ts";
import { wholeNumber } from "../../util/decimal.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { nearestName } from "../../util/nearest-name.ts";
import { UNPACED_OPTIONS, type UnpacedOptions } from "../request/flow-options.ts";
import type { LevelsOption } from "./level-plan.ts";
import type { PyramidMethod } from "./reduce-blocks.ts";

export interface PyramidOptions extends UnpacedOptions {
  /** Items along each spatial dimension that become one in the next level, or a number for each: `{ z: 1, y: 2, x: 2 }`; 2 by default. */
  readonly factor?: number | Readonly<Record<string, number>> | string | undefined;
  /**
   * How a block of items becomes one; by default `mode` for labels, masks and classes, and `mean` for all else. In a data
   * set, classes have no mean where that is asked for either.
   */
  readonly method?: PyramidMethod | undefined;
  /** How many levels there are, the whole one among them; by default, `auto`, until each spatial dimension is one chunk. */
  readonly levels?: LevelsOption | undefined;
  /** Names of the axes of an array whose dimensions have no such names, in order: `tczyx`, `zyx`. */
  readonly axes?: string | undefined;
  /** The compressor of all levels, or all of their codecs (`bitround:10,zstd:5`), as in `copy`; the source's by default. */
  readonly codec?: CodecOption | undefined;
  /** The format of all levels; the source's by default. */
  readonly to?: "v2" | "v3" | undefined;
  /** What to do when there is something at the target; `error` by default. */
  readonly ifExists?: "error" | "skip" | "replace" | undefined;
  /** Writes chunks that hold nothing but the fill value too. */
  readonly writeEmpty?: boolean | undefined;
  /** Plans all, and writes nothing. */
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
 * The factor of each dimension; 1 for those that are not spatial.
 *
 * @throws `invalid-option` for a dimension that is not there or not spatial, and for what is no whole number from 1 on
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

/** Spatial dimensions that a factor by names leaves out; none of a number for all. */
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
