import { withChunkSeparator } from "../../hierarchy/chunk-separator.ts";
import { isDocumentKey } from "../../hierarchy/edit/delete.ts";
import { keysBelow } from "../../hierarchy/keys-below.ts";
import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import { isListable, type KeyEntry } from "../../stores/store.ts";
import { BufferPool } from "../../streams/buffer-pool.ts";
import { ByteBudget } from "../../streams/byte-budget.ts";
import { belowPath } from "../../util/node-path.ts";
import { sortUtf8 } from "../../util/utf8-order.ts";
import { nearest } from "../target/nearest-node.ts";
import { sameValue } from "../update/same-value.ts";
import { brokenStates, type Difference } from "./difference.ts";

/** One side of a comparison. */
export interface KeySide {
  readonly root: ZarrNode;
  /** Nodes by path below the root; null for a node that was not compared. */
  readonly nodes: ReadonlyMap<string, ZarrNode | null>;
}

/**
 * Compares the keys of two hierarchies that are neither documents nor chunks, byte for byte. Keys below nodes that were
 * not compared are skipped, because those nodes are reported already.
 *
 * @throws `unsupported-operation` for a store that cannot list its keys
 */
export async function* compareKeys(
  a: KeySide,
  b: KeySide,
  { maxMemory, signal }: { readonly maxMemory: number; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<Difference> {
  const [keys, others] = [await otherKeys(a, signal), await otherKeys(b, signal)];
  const how = { budget: new ByteBudget(maxMemory), buffers: new BufferPool(maxMemory), signal };
  for (const path of sortUtf8([...new Set([...keys.keys(), ...others.keys()])])) {
    const [listed, other] = [keys.get(path), others.get(path)];
    const [size, otherSize] = await Promise.all([sizeOf(a, listed, signal), sizeOf(b, other, signal)]);
    const found = { path, what: "key", counts: true, a: size, b: otherSize } as const;
    if (!listed || !other) {
      yield found;
      continue;
    }
    const [left, right] = [
      { store: a.root.store, listed: { ...listed, ...(size !== undefined && { size }) } },
      { store: b.root.store, listed: { ...other, ...(otherSize !== undefined && { size: otherSize }) } },
    ];
    try {
      if (!(await sameValue(left, right, how))) yield found;
    } catch (error) {
      const states = brokenStates(error, { ...left, kind: "key" }, { ...right, kind: "key" });
      yield { ...found, what: "broken", ...states };
    }
  }
}

/** True if the keys of all sides can be listed. */
export function canCompareKeys(...roots: readonly ZarrNode[]): boolean {
  return roots.every(({ store }) => isListable(store));
}

async function sizeOf(
  { root }: KeySide,
  listed: KeyEntry | undefined,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  return listed && (listed.size ?? root.store.size(listed.key, { signal }));
}

/** Keys that are neither documents nor chunks, by path below the root. */
async function otherKeys(
  { root, nodes }: KeySide,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, KeyEntry>> {
  const { store, layout, path: rootPath } = root;
  const found = new Map<string, KeyEntry>();
  if (!isListable(store)) return found;
  const readable = new Map<ZarrArray, ZarrArray>();
  for await (const entry of keysBelow(store, layout, { onUnreadable: () => {}, signal })) {
    const path = belowPath(rootPath, layout.hierarchy.pathOf(entry.key));
    const node = nearest(path, nodes);
    if (!node || isDocumentKey(entry.key, layout)) continue;
    if (node.kind === "array") {
      // its chunk keys may have another separator than its metadata state
      const array = readable.get(node) ?? (await withChunkSeparator(node, { signal }));
      readable.set(node, array);
      const { layout, shape, metadata } = array;
      if (layout.parseChunkKey(entry.key, shape.length, metadata.chunkKeyEncoding)) continue;
    }
    found.set(path, entry);
  }
  return found;
}
