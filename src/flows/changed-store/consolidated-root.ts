import { carriesConsolidated } from "../../hierarchy/consolidated.ts";
import { ancestorDocuments } from "../../hierarchy/create/ancestors.ts";
import type { ZarrFormat } from "../../meta/array-metadata.ts";
import { consolidate } from "../../meta/consolidated.ts";
import type { Documents } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import type { Store, StoreOptions } from "../../stores/store.ts";
import { folderOf } from "../../util/node-path.ts";
import type { Plan } from "../plan/plan.ts";

/**
 * Adds consolidated metadata to the documents of a plan's target, if its root is a group and the format supports them.
 * Implied groups get documents too, since clients that cannot list would not see them otherwise.
 */
export async function consolidatedRoot(
  { source: { path }, publication }: Plan,
  documents: Documents,
  source: Store,
  options: StoreOptions,
): Promise<Documents> {
  const { zarrFormat, from, copyKeys, consolidate: groups } = publication;
  const format = formatNamed(zarrFormat);
  const layout = format.layout("");
  const key = layout.consolidatedKey;
  if (key === undefined || groups.includes("") || documents.has(".zmetadata")) return documents;
  if (documents.size === 0 || format.parse(documents, layout)?.metadata.kind === "array") return documents;
  const sourceKey = formatNamed(from).layout(path).consolidatedKey;
  const isCarried = carriesConsolidated(layout);
  const isCopied = !isCarried && copyKeys && from === zarrFormat && sourceKey !== undefined;
  const bytes = isCopied ? await source.get(sourceKey, options) : documents.get(key);
  const isThere = bytes !== undefined && (!isCarried || format.readConsolidated?.(bytes, "") !== undefined);
  return isThere ? documents : consolidate(zarrFormat, "", withImpliedGroups(documents, zarrFormat));
}

function withImpliedGroups(documents: Documents, zarrFormat: ZarrFormat): Documents {
  const all = new Map(documents);
  for (const key of documents.keys()) {
    const path = folderOf(key);
    for (const [key, bytes] of ancestorDocuments(path, zarrFormat).flatMap((group) => [...group]))
      if (!all.has(key)) all.set(key, bytes);
  }
  return all;
}
