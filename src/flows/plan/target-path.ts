import type { FormatDefinition } from "../../meta/format.ts";
import { caseConflict } from "../../meta/sibling-names.ts";

/** Maps the path of a source node below the source's root to the path below the target's root. */
export function targetPath(path: string, sourceRoot: string, targetRoot: string): string {
  const below = path.slice(sourceRoot.length).replace(/^\//, "");
  return [targetRoot, below].filter(Boolean).join("/");
}

/** @throws `invalid-node-name` for siblings that the target's format does not distinguish. */
export function assertDistinctNames(paths: readonly string[], zarrFormat: FormatDefinition): void {
  if (!zarrFormat.layout("").hierarchy.ignoresCase) return;
  const seen = new Map<string, string>();
  for (const path of paths) {
    const other = seen.get(path.toLowerCase());
    if (other !== undefined) throw caseConflict(zarrFormat.name, path, other);
    seen.set(path.toLowerCase(), path);
  }
}
