import { ConsolidatedMetadata } from "../../../hierarchy/edit/consolidated.ts";
import type { ZarrNode } from "../../../hierarchy/node.ts";
import { walk } from "../../../hierarchy/open/walk.ts";
import { isReservedKey } from "../../../stores/reserved-names.ts";
import type { WritableStore } from "../../../stores/store.ts";
import { type StoreCall, wrapStore } from "../../../stores/with/wrap-store.ts";
import { done, type Fix, fixed } from "./fix.ts";

/** Rewrites consolidated metadata that differ from the documents of their nodes. */
export async function* fixConsolidated(
  root: ZarrNode,
  store: WritableStore,
  { dryRun, signal }: { readonly dryRun: boolean; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<Fix> {
  if (root.kind === "array") return;
  const { maxMetadata } = root.reading;
  const groups = [root.path];
  for await (const node of walk(root, { signal })) if (node.kind === "group") groups.push(node.path);
  const written = new Set<string>();
  const noting = wrapStore(store, async <T>({ operation, key }: StoreCall, call: () => Promise<T>) => {
    if (operation === "set" && !isReservedKey(key)) written.add(key);
    return call();
  });
  const consolidated = await ConsolidatedMetadata.find(noting, groups, { maxMetadata, signal });
  await consolidated.restate([root.path], { maxMetadata, signal });
  const what = "consolidated metadata that were out of date";
  for (const key of written)
    yield fixed("stale-consolidated", root.path, `${what} ${done("were", "rewritten", dryRun)}`, { key });
}
