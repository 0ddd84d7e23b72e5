import { ZarrflowError } from "../util/errors.ts";
import { nearestName } from "../util/nearest-name.ts";
import { lastName } from "../util/node-path.ts";
import type { ArrayMetadata } from "./array-metadata.ts";

/** Place of the dimension called `name`. @throws `invalid-option` offering the nearest name. */
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

/** An array with its path, as far as names of dimensions are concerned. */
interface NamedArray {
  readonly path: string;
  readonly metadata: Pick<ArrayMetadata, "shape" | "dimensionNames">;
}

/**
 * What was probably meant by a name that no dimension of some arrays has: a dimension of a similar name, or the dimensions of
 * a coordinate of that name that has several.
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

/** That a name is that of a coordinate over several dimensions. */
export function severalDimensions(name: string, over: readonly (string | null)[]): string {
  const names = over.map((one, d) => one ?? `${d}`);
  return `\`${name}\` is ${over.length}-d over (${names.join(", ")}): select by ${names.join(", ")}.`;
}

/**
 * What was probably meant by sizes or ranges of dimensions that are given with a colon, `time:-1`: the same with an
 * equals sign. Undefined where the text has no such colon.
 */
export function withEqualsSigns(text: string): string | undefined {
  const meant = text.replace(/(?<![^,:\s])([^\d:=,\s-][^:=,\s]*):(?=-?\d)/g, "$1=");
  return meant === text ? undefined : meant;
}

function invalid(reason: string, path: string, hint?: string): ZarrflowError {
  return new ZarrflowError("invalid-option", reason, { path, ...(hint && { hint }) });
}

/** Names of dimensions that are stated elsewhere than at the arrays themselves, by path of the array. */
export type Axes = ReadonlyMap<string, readonly string[]>;

/**
 * An array as its dimensions are asked for by name: where it names none, by the names of the image it is a level of.
 * Written only where the image stays behind, as these are no part of its own metadata.
 */
export function withAxes(metadata: ArrayMetadata, axes: readonly string[] | undefined): ArrayMetadata {
  const isNamed = metadata.dimensionNames?.some((name) => name !== null);
  return axes === undefined || isNamed || axes.length !== metadata.shape.length
    ? metadata
    : { ...metadata, dimensionNames: axes };
}
