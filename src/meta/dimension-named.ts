import { ZarrflowError } from "../util/errors.ts";
import { nearestName } from "../util/nearest-name.ts";

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
