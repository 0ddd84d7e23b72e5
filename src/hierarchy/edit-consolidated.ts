import { consolidate, withoutConsolidatedV3, writeConsolidatedV2 } from "../meta/consolidated.ts";
import type { Documents } from "../meta/dialect.ts";
import { joinKey } from "../meta/join-key.ts";
import type { StoreOptions, WritableStore } from "../stores/store.ts";
import { consolidatedV2, consolidatedV3 } from "./consolidated.ts";

/** What was done to documents, by their keys. */
export interface DocumentChanges {
  /** Path at and below which all documents of before are gone. */
  readonly removed?: string;
  /** Documents that were written since; undefined for one that was removed. */
  readonly written: ReadonlyMap<string, Uint8Array | undefined>;
}

/** Consolidated metadata of one group, while what they tell of changes. */
interface Consolidated {
  /** Takes them away. */
  suspend(): Promise<void>;
  /** Writes them again, with the changes. */
  resume(changes: DocumentChanges): Promise<void>;
}

/** Runs a step that does all or nothing: where it fails, nothing has changed. */
export type AtOnce = (step: () => Promise<void>) => Promise<void>;

/**
 * Changes documents and keeps the consolidated metadata of the groups at `paths` true: they are taken away before and
 * written again after, so that whoever cuts it short leaves none rather than false ones.
 *
 * @param change is told whether there are any, so that what was written is asked for. A step that it makes `atOnce` may
 *   fail: they are then as before.
 * @see V2-78, V3-19
 */
export async function keepConsolidated(
  store: WritableStore,
  paths: readonly string[],
  change: (areAny: boolean, atOnce: AtOnce) => Promise<DocumentChanges>,
  options: StoreOptions = {},
): Promise<void> {
  const found = await Promise.all(
    paths.map(async (path) => [await findV2(store, path, options), await findV3(store, path, options)]),
  );
  const all = found.flat().filter((consolidated) => consolidated !== undefined);
  const resume = async (changes: DocumentChanges) => {
    for (const consolidated of [...all].reverse()) await consolidated.resume(changes);
  };
  const atOnce: AtOnce = async (step) => {
    try {
      await step();
    } catch (error) {
      await resume({ written: new Map() }).catch(() => {});
      throw error;
    }
  };
  for (const consolidated of all) await consolidated.suspend();
  await resume(await change(all.length > 0, atOnce));
}

async function findV2(
  store: WritableStore,
  path: string,
  options: StoreOptions,
): Promise<Consolidated | undefined> {
  const documents = await consolidatedV2(store, path, options);
  const key = joinKey(path, ".zmetadata");
  return (
    documents && {
      suspend: () => store.delete(key, options),
      resume: (changes) => store.set(key, writeConsolidatedV2(changed(documents, changes), path), options),
    }
  );
}

async function findV3(
  store: WritableStore,
  path: string,
  options: StoreOptions,
): Promise<Consolidated | undefined> {
  const key = joinKey(path, "zarr.json");
  const bytes = await store.get(key, options);
  if (bytes === undefined) return undefined;
  const documents = consolidatedV3(bytes, path);
  if (documents === undefined) return undefined;
  const plain = withoutConsolidatedV3(bytes);
  return {
    suspend: () => store.set(key, plain, options),
    async resume(changes) {
      const own = changes.written.get(key) ?? plain;
      const all = consolidate("v3", path, new Map([...changed(documents, changes), [key, own]]));
      await store.set(key, all.get(key) ?? own, options);
    },
  };
}

function changed(documents: Documents, { removed, written }: DocumentChanges): Documents {
  const gone = removed === undefined ? undefined : joinKey(removed, "");
  const kept = [...documents].filter(([key]) => gone === undefined || !key.startsWith(gone));
  const result = new Map<string, Uint8Array>(kept);
  for (const [key, bytes] of written) {
    if (bytes) result.set(key, bytes);
    else result.delete(key);
  }
  return result;
}
