import type { DialectName } from "../../meta/array-metadata.ts";
import type { NodeLayout } from "../../meta/format.ts";
import { dialectNamed } from "../../meta/formats.ts";
import { ZarrflowError } from "../../util/errors.ts";

/** The layout of a node that is to be created. @see V2-72 */
export function layoutOf(
  path: string,
  dialect: DialectName,
  { allowUnicode = false }: { readonly allowUnicode?: boolean | undefined },
): NodeLayout {
  const layout = dialectNamed(dialect).layout(path);
  if (allowUnicode || !layout.hierarchy.wantsAscii || /^[\x20-\x7e]*$/.test(path)) return layout;
  throw new ZarrflowError("invalid-node-name", "names of nodes are ASCII in this format", {
    format: dialect,
    path,
    hint: "Allow others with `allowUnicode`; not every reader takes them.",
  });
}

interface Asked {
  readonly dialect?: DialectName | undefined;
  readonly ifExists?: "error" | "replace" | undefined;
}

/** The dialect of a node; a root that replaces another may have any. */
export function chooseDialect(
  { dialect: asked, ifExists }: Asked,
  path: string,
  around: DialectName | undefined,
): DialectName {
  const isFree = path === "" && ifExists === "replace";
  return (isFree ? (asked ?? around) : agreed(asked, around)) ?? "v3";
}

/** One of two dialects, of which either may be open. @throws `invalid-option` when they differ. */
export function agreed(
  asked: DialectName | undefined,
  around: DialectName | undefined,
): DialectName | undefined {
  if (asked === undefined || around === undefined || asked === around) return asked ?? around;
  throw new ZarrflowError("invalid-option", `a node of ${asked} cannot be part of a hierarchy of ${around}`, {
    expected: around,
    found: asked,
  });
}
