import { keysBelow } from "../../../hierarchy/keys-below.ts";
import type { ZarrNode } from "../../../hierarchy/node.ts";
import type { ListableStore, WritableStore } from "../../../stores/store.ts";
import { forEachConcurrent } from "../../../streams/for-each-concurrent.ts";
import type { ReadNodes } from "../nodes.ts";
import { StoredKeys } from "../stored-keys.ts";
import { done, type Fix, fixed } from "./fix.ts";

/** Removes chunks outside the grids of arrays, according to the arrays' own documents. */
export async function* fixOutsideChunks(
  root: ZarrNode,
  store: ListableStore & WritableStore,
  read: ReadNodes,
  {
    dryRun,
    concurrency,
    signal,
  }: { readonly dryRun: boolean; readonly concurrency: number; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<Fix> {
  const keys = new StoredKeys(root, read);
  const removed = new Map<string, { readonly key: string; count: number }>();
  async function* outside() {
    for await (const { key } of keysBelow(store, root.layout, { onUnreadable: () => {}, signal })) {
      const array = keys.arrayOutside(key);
      if (array === undefined) continue;
      const known = removed.get(array.path);
      if (known) known.count++;
      else removed.set(array.path, { key, count: 1 });
      yield key;
    }
  }
  await forEachConcurrent(outside(), (key) => store.delete(key, { signal }), { concurrency, signal });
  for (const [path, { key, count }] of removed) {
    const what = count === 1 ? "a chunk outside the grid" : "chunks outside the grid";
    const message = `${what} ${done(count === 1 ? "was" : "were", "removed", dryRun)}`;
    yield fixed("outside-grid", path, message, { key, ...(count > 1 && { count }) });
  }
}
