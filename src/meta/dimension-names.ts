import { ZarrflowError } from "../util/errors.ts";
import { nearestName } from "../util/names.ts";
import { lastName } from "../util/node-path.ts";
import type { ArrayMetadata } from "./array-metadata.ts";

/** Index of the dimension called `name`. @throws `invalid-option` with the nearest name. */
export function dimensionNamed(name: string, names: readonly (string | null)[], path: string): number {
  const d = names.indexOf(name);
  if (d >= 0 && names.lastIndexOf(name) === d) return d;
  const known = names.filter((n): n is string => n !== null);
  if (d >= 0)
    throw invalid(
      `two dimensions are named \`${name}\``,
      path,
      "Give sizes in the order of the dimensions instead.",
    );
  if (known.length === 0) {
    throw invalid(
      `its dimensions have no names, so \`${name}\` is unknown`,
      path,
      "Give one size per dimension.",
    );
  }
  const near = nearestName(name, known);
  const hint = near ? `Did you mean \`${near}\`?` : undefined;
  throw invalid(`no dimension is named \`${name}\`; they are ${known.join(", ")}`, path, hint);
}

/** Returns a hint that a name belongs to a coordinate over several dimensions. */
export function severalDimensions(name: string, over: readonly (string | null)[]): string {
  const names = over.map((one, d) => one ?? `${d}`);
  return `\`${name}\` is ${over.length}-d over (${names.join(", ")}): select by ${names.join(", ")}.`;
}

function invalid(reason: string, path: string, hint?: string): ZarrflowError {
  return new ZarrflowError("invalid-option", reason, { path, ...(hint && { hint }) });
}

/** Dimension names that are stated outside of the arrays, by path of the array. */
export type Axes = ReadonlyMap<string, readonly string[]>;

/**
 * Adds the dimension names of an array's image if it has none itself. They are not part of its own metadata, so they
 * are written only if the array is copied without its image.
 */
export function withAxes(metadata: ArrayMetadata, axes: readonly string[] | undefined): ArrayMetadata {
  const isNamed = metadata.dimensionNames?.some((name) => name !== null);
  return axes === undefined || isNamed || axes.length !== metadata.shape.length
    ? metadata
    : { ...metadata, dimensionNames: axes };
}

/** An array with its path and the names of its dimensions. */
interface NamedArray {
  readonly path: string;
  readonly metadata: Pick<ArrayMetadata, "shape" | "dimensionNames">;
}

/**
 * Returns a hint for an unknown dimension name: a similar name, or the dimensions of a multidimensional coordinate
 * that has this name.
 */
export function dimensionMeant(name: string, arrays: readonly NamedArray[], whose: string): string {
  const curvilinear = arrays.find(
    ({ path, metadata }) => lastName(path) === name && metadata.shape.length > 1,
  );
  if (curvilinear) return severalDimensions(name, curvilinear.metadata.dimensionNames ?? []);
  const names = arrays.flatMap(({ metadata }) => metadata.dimensionNames ?? []);
  const known = [...new Set(names)].filter((one) => one !== null);
  const near = nearestName(name, known);
  return near ? `Did you mean \`${near}\`?` : `${whose} dimensions are ${known.join(", ") || "not named"}.`;
}

/**
 * Suggests equals signs for sizes or ranges of dimensions written with a colon, such as `time:-1`. Undefined if the
 * text has no such colon.
 */
export function withEqualsSigns(text: string): string | undefined {
  const meant = text.replace(/(?<![^,:\s])([^\d:=,\s-][^:=,\s]*):(?=-?\d)/g, "$1=");
  return meant === text ? undefined : meant;
}
