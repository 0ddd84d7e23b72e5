import { formatNamed } from "../meta/formats.ts";
import { outerPrefixes } from "../meta/node-layout.ts";
import type { Plan } from "../plan/plan.ts";
import { assertListable } from "../stores/assertions.ts";
import type { KeyEntry, Store, StoreOptions } from "../stores/store.ts";
import { sourceChanged } from "../stores/version.ts";
import { forEachConcurrent } from "../streams/for-each-concurrent.ts";
import { TextHashSum } from "../util/hash.ts";

/** A snapshot of all keys of a source. */
export interface SourceKeys {
  /** Summary of the keys as text: their number, their total bytes, and a hash of each key with its version. */
  readonly state: string;
  /** @throws `source-changed` if a key was added, removed or changed since. */
  assertUnchanged(options: StoreOptions): Promise<void>;
}

/**
 * Takes a snapshot of every key below the source of a plan, including keys that the plan does not read. The version of
 * a key is its entity tag, its CRC-32 or the time of its file, whichever the store has; its size is always included.
 *
 * @throws `unsupported-operation` if the store cannot list its keys.
 */
export async function sourceKeys(store: Store, plan: Plan, options: StoreOptions): Promise<SourceKeys> {
  const state = await keysState(store, plan, options);
  return {
    state,
    async assertUnchanged(now) {
      const found = await keysState(store, plan, now);
      if (found === state) return;
      throw sourceChanged(
        "keys of the source were changed, added or removed while it was being read",
      ).addContext({
        store: store.description,
        expected: state,
        found,
      });
    },
  };
}

async function keysState(store: Store, { source, publication, execution }: Plan, { signal }: StoreOptions) {
  const listable = assertListable(store);
  const hashes = new TextHashSum();
  let bytes = 0;
  const add = async ({ key, size, etag, crc32 }: KeyEntry, { signal }: StoreOptions) => {
    let [length, version] = [size, etag ?? crc32?.toString(16)];
    if (length === undefined || version === undefined) {
      const onVersion = (found: string) => {
        version = found;
      };
      length = await store.size(key, { onVersion, signal });
    }
    bytes += length ?? 0;
    hashes.add(JSON.stringify([key, length, version]));
  };
  for (const prefix of outerPrefixes(formatNamed(publication.from).layout(source.path))) {
    await forEachConcurrent(listable.list(prefix, { signal }), add, {
      concurrency: execution.concurrency,
      signal,
    });
  }
  return `${hashes.count} keys, ${bytes} bytes, hash ${hashes}`;
}
