import type { NodeLayout } from "../meta/format.ts";
import { outerPrefixes } from "../meta/key-trees.ts";
import type { KeyEntry, ListableStore, StoreOptions } from "../stores/store.ts";

/** Every key below a node, in whichever tree, but for those that it shares with all others of the hierarchy. */
export async function* keysBelow(
  store: ListableStore,
  layout: NodeLayout,
  options: StoreOptions = {},
): AsyncGenerator<KeyEntry> {
  const { sharedKeys } = layout.hierarchy;
  for (const prefix of outerPrefixes(layout)) {
    for await (const listed of store.list(prefix, options))
      if (!sharedKeys.includes(listed.key)) yield listed;
  }
}
