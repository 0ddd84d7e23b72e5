import { readConsolidatedV3 } from "../meta/consolidated.ts";
import { joinKey } from "../meta/join-key.ts";
import type { ZarrGroup } from "./node.ts";

/** Whether a group has consolidated metadata, which must then stay true. */
export async function hasConsolidated(group: ZarrGroup, signal?: AbortSignal): Promise<boolean> {
  const { store, path, layout, documents } = group;
  if (layout.dialect === "v2")
    return (await store.size(joinKey(path, ".zmetadata"), { signal })) !== undefined;
  const document = documents.get(joinKey(path, "zarr.json"));
  return document !== undefined && readConsolidatedV3(document, path) !== undefined;
}
