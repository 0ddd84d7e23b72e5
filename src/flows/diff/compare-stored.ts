import { withChunkSeparator } from "../../hierarchy/chunk-separator.ts";
import { isDocumentKey } from "../../hierarchy/edit/delete.ts";
import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import { keysBelow } from "../../hierarchy/open/walk.ts";
import { formatNamed } from "../../meta/formats.ts";
import { isListable, type KeyEntry } from "../../stores/store.ts";
import { BufferPool } from "../../streams/buffer-pool.ts";
import { ByteBudget } from "../../streams/byte-budget.ts";
import { sortUtf8 } from "../../util/names.ts";
import { belowPath, nearest } from "../../util/node-path.ts";
import { sameValue } from "../update/same-value.ts";
import { brokenStates, type Difference } from "./compare-metadata.ts";

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
export async function* compareOtherKeys(
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
