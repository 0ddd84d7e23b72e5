import type { NodeLayout } from "../../meta/format.ts";
import type { ListableStore, ListOptions } from "../../stores/store.ts";
import { sortUtf8 } from "../../util/utf8-order.ts";

/** Returns the names of possible members of the group of `layout`, sorted. */
export async function childNames(
  store: ListableStore,
  layout: NodeLayout,
  options: ListOptions = {},
): Promise<string[]> {
  const names = new Set<string>();
  for await (const entry of store.listDirectory(layout.membersPrefix, options)) {
    const name = layout.memberName("prefix" in entry ? entry.prefix : entry.key);
    if (name !== undefined) names.add(name);
  }
  return sortUtf8([...names]);
}
