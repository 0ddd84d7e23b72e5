import type { Store, StoreSpec } from "../../stores/store.ts";
import { foundOnce } from "../../util/awaitable.ts";
import type { ZarrArray, ZarrNode } from "../node.ts";
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

/** Axis names of open arrays; each array is examined once. */
const looked = new WeakMap<ZarrArray, Promise<readonly string[] | undefined>>();

/**
 * Returns the axis names of the image that an array is a level of, stated by a group above it, possibly above the root
 * of the store. Undefined if the array names its own dimensions, or if no group states any.
 */
export async function axesFromAbove(
  array: ZarrArray,
  signal?: AbortSignal,
): Promise<readonly string[] | undefined> {
  if (array.dimensionNames?.some((name) => name !== null)) return undefined;
  const find = async () => (await import("./open-via-ancestor.ts")).axesOfImageAbove(array);
  return foundOnce(looked, array, find, signal);
}
