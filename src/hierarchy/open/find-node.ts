import type { Store, StoreSpec } from "../../stores/store.ts";
import type { ZarrNode } from "../node.ts";
import { type OpenNodeOptions, openNode } from "./open-node.ts";

/**
 * Opens the node at `path` by its own documents or those of groups above it.
 *
 * @throws as `openNode` and `openViaAncestor`
 */
export async function findNode(
  store: Store,
  spec: StoreSpec,
  path: string,
  { kind, looksBeside, ...options }: Omit<OpenNodeOptions, "spec">,
): Promise<ZarrNode | undefined> {
  const node = await openNode(store, path, { spec, kind, looksBeside, ...options });
  if (node) return node;
  const { openViaAncestor } = await import("./open-via-ancestor.ts");
  return openViaAncestor(store, spec, path, options);
}
