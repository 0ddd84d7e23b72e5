import { ConsolidatedMetadata } from "../../hierarchy/edit/consolidated.ts";
import type { ZarrNode } from "../../hierarchy/node.ts";
import { walk } from "../../hierarchy/open/walk.ts";
import { assertWritable } from "../../stores/assertions.ts";
import { isLockKey } from "../../stores/reserved-names.ts";
import { type StoreCall, wrapStore } from "../../stores/with/wrap-store.ts";
import type { ValidateFinding } from "./finding.ts";

/** Writes consolidated metadata that are not what the nodes say, and tells so. @throws `unsupported-operation` */
export async function* mendConsolidated(
  root: ZarrNode,
  { dryRun = false, signal }: { readonly dryRun?: boolean; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<ValidateFinding> {
  if (root.kind === "array") return;
  const { maxMetadata } = root.reading;
  const groups = [root.path];
  for await (const node of walk(root, { signal })) if (node.kind === "group") groups.push(node.path);
  const store = assertWritable(root.store);
  const written = new Set<string>();
  const noting = wrapStore(store, async <T>({ operation, key }: StoreCall, call: () => Promise<T>) => {
    if (operation !== "set") return call();
    if (!isLockKey(key)) written.add(key);
    return dryRun ? (undefined as T) : call();
  });
  const consolidated = await ConsolidatedMetadata.find(noting, groups, { maxMetadata, signal });
  await consolidated.restate([root.path], { maxMetadata, signal });
  for (const key of written) {
    const message = `consolidated metadata that were out of date ${dryRun ? "would be" : "were"} rewritten`;
    yield { level: "info", what: "stale-consolidated", path: root.path, key, message };
  }
}
