import { ZarrflowError } from "../util/errors.ts";
import { nearestName } from "../util/nearest-name.ts";
import type { ArrayMetadata } from "./array-metadata.ts";

/** Index of the dimension called `name`. @throws `invalid-option` with the nearest name. */
export function dimensionNamed(name: string, names: readonly (string | null)[], path: string): number {
  const d = names.indexOf(name);
  if (d >= 0 && names.lastIndexOf(name) === d) return d;
  const known = names.filter((n): n is string => n !== null);
  if (d >= 0) throw invalid(`two dimensions are named \`${name}\``, path, "Give the sizes in order instead.");
  if (known.length === 0) {
    throw invalid(
      `its dimensions have no names, so \`${name}\` is unknown`,
      path,
      "Give one number per dimension.",
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
