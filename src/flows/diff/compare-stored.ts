import { keysBelow } from "../../hierarchy/keys-below.ts";
import type { ZarrNode } from "../../hierarchy/node.ts";
import { formatNamed } from "../../meta/formats.ts";
import { isListable, type KeyEntry } from "../../stores/store.ts";
import { BufferPool } from "../../streams/buffer-pool.ts";
import { ByteBudget } from "../../streams/byte-budget.ts";
import { sameValue } from "../update/same-value.ts";

/** A node, by its root and its path in that root's store. */
export interface StoredNode {
  readonly root: ZarrNode;
  readonly path: string;
}

/**
 * Compares the keys and bytes of two nodes that are not supported. Returns true if they are the same, and undefined if
 * that cannot be determined because a store cannot list its keys or the formats differ.
 */
export async function sameStored(
  a: StoredNode,
  b: StoredNode,
  { maxMemory, signal }: { readonly maxMemory: number; readonly signal?: AbortSignal | undefined },
): Promise<boolean | undefined> {
  if (a.root.layout.zarrFormat !== b.root.layout.zarrFormat) return undefined;
  const [left, right] = [await keysOf(a, signal), await keysOf(b, signal)];
  if (left === undefined || right === undefined) return undefined;
  if (left.size !== right.size) return false;
  const options = { budget: new ByteBudget(maxMemory), buffers: new BufferPool(maxMemory), signal };
  for (const [name, listed] of left) {
    const other = right.get(name);
    if (other === undefined) return false;
    const sides = [
      { store: a.root.store, listed },
      { store: b.root.store, listed: other },
    ] as const;
    if (!(await sameValue(...sides, options))) return false;
  }
  return true;
}

/** Stored keys of a node, by the part that does not depend on its path. */
async function keysOf(
  { root: { store, layout }, path }: StoredNode,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, KeyEntry> | undefined> {
  if (!isListable(store)) return undefined;
  const own = formatNamed(layout.zarrFormat).layout(path);
  const keys = new Map<string, KeyEntry>();
  for await (const listed of keysBelow(store, own, { signal })) {
    const tree = own.prefixes.findIndex((prefix) => listed.key.startsWith(prefix));
    keys.set(`${tree} ${listed.key.slice(own.prefixes[tree]?.length ?? 0)}`, listed);
  }
  return keys;
}
