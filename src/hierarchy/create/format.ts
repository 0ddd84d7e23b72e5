import type { ZarrFormat } from "../../meta/array-metadata.ts";
import type { NodeLayout } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import { ZarrflowError } from "../../util/errors.ts";

/** Returns the layout of a new node, after checking its name. */
export function layoutOf(
  path: string,
  zarrFormat: ZarrFormat,
  { allowUnicode = false }: { readonly allowUnicode?: boolean | undefined },
): NodeLayout {
  const layout = formatNamed(zarrFormat).layout(path);
  if (allowUnicode || !layout.hierarchy.wantsAscii || /^[\x20-\x7e]*$/.test(path)) return layout;
  throw new ZarrflowError("invalid-node-name", "names of nodes are ASCII in this format", {
    format: zarrFormat,
    path,
    hint: "Allow other names with `allowUnicode`; not every reader accepts them.",
  });
}

interface Asked {
  readonly zarrFormat?: ZarrFormat | undefined;
  readonly ifExists?: "error" | "replace" | undefined;
}

/** Chooses the format of a node. A root that replaces another may have any format. */
export function chooseFormat(
  { zarrFormat: asked, ifExists }: Asked,
  path: string,
  around: ZarrFormat | undefined,
): ZarrFormat {
  const isFree = path === "" && ifExists === "replace";
  return (isFree ? (asked ?? around) : agreed(asked, around)) ?? "v3";
}

/** Returns the common format of two, either of which may be undefined. @throws `invalid-option` if they differ. */
export function agreed(
  asked: ZarrFormat | undefined,
  around: ZarrFormat | undefined,
): ZarrFormat | undefined {
  if (asked === undefined || around === undefined || asked === around) return asked ?? around;
  throw new ZarrflowError(
    "invalid-option",
    `a node in format ${asked} cannot be part of a hierarchy in format ${around}`,
    {
      expected: around,
      found: asked,
    },
  );
}
