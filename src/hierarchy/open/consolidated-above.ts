import type { Documents } from "../../meta/format.ts";
import { joinKey } from "../../meta/join-key.ts";
import { type ConsolidatedOptions, consolidatedV2, consolidatedV3 } from "../consolidated.ts";
import type { ZarrGroup } from "../node.ts";
import { readDocument } from "../stored-documents.ts";
import { type Ancestor, ancestorsOf, isUnreadableAbove } from "./ancestors-of.ts";

/**
 * Returns the documents below a group from the consolidated metadata of a group above it, possibly above the root of
 * the store. Their keys are in the group's store. Undefined if no group above has any.
 *
 * @throws `invalid-metadata` for broken documents in the group's own store
 */
export async function consolidatedAbove(
  group: ZarrGroup,
  options: ConsolidatedOptions = {},
): Promise<Documents | undefined> {
  const { store, spec, path } = group;
  for await (const above of ancestorsOf(store, spec, path)) {
    if (above.path === above.nodePath) continue;
    try {
      const documents = await consolidatedIn(above, group, options);
      if (documents) return documentsBelow(documents, above.nodePath, path);
    } catch (error) {
      if (above.isOutside && isUnreadableAbove(error)) return undefined;
      throw error;
    }
  }
  return undefined;
}

/** Reads the consolidated metadata of the group at an ancestor's path, if it has the format of the group below. */
async function consolidatedIn(
  { store, path, isOutside }: Ancestor,
  { layout, reading }: ZarrGroup,
  { stored, ...options }: ConsolidatedOptions,
): Promise<Documents | undefined> {
  const limits = { ...reading, ...options };
  // keys of another store would be looked up in the group's own
  const kept = isOutside ? undefined : stored;
  if (layout.zarrFormat === "v2")
    return consolidatedV2(store, path, { ...limits, ...(kept && { stored: kept }) });
  if (layout.zarrFormat !== "v3") return undefined;
  const key = joinKey(path, "zarr.json");
  const found = await readDocument(store, key, limits);
  const documents = found && consolidatedV3(found.bytes, path, limits);
  if (documents) kept?.set(key, found);
  return documents;
}

/** Moves documents at or below `from` to `to`; undefined without any. */
function documentsBelow(documents: Documents, from: string, to: string): Documents | undefined {
  const prefix = joinKey(from, "");
  const below = [...documents].filter(([key]) => key.startsWith(prefix));
  if (below.length === 0) return undefined;
  return new Map(below.map(([key, bytes]) => [joinKey(to, key.slice(prefix.length)), bytes]));
}
