import { MemoryStore, nameMemoryStore } from "../../../stores/memory.ts";
import { isListable, isWritable, type StoreSpec } from "../../../stores/store.ts";
import { SCRATCH_PREFIX } from "../../../stores/target/leftovers.ts";
import { PrefixLock } from "../../../stores/target/prefix-lock.ts";
import { openStore } from "../../../stores/url.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import type { Scratch } from "./scratch.ts";

/**
 * Makes an empty place for scratch objects in a bucket or in memory, under a name of its own.
 *
 * @throws `invalid-option` for any other store.
 */
export async function openScratchStore(place: StoreSpec): Promise<Scratch> {
  const spec = below(place, `${SCRATCH_PREFIX}${crypto.randomUUID().slice(-12)}`);
  const store = spec && (await openStore(spec));
  if (store === undefined || !isWritable(store) || !isListable(store)) {
    await store?.close?.();
    throw new ZarrflowError("invalid-option", "scratch objects cannot be stored there", {
      found: place.kind,
      hint: "Give a folder or a prefix of a bucket.",
    });
  }
  const lock = await PrefixLock.take(store); // tells whoever cleans up that it is in use
  const removeBelow = async (folder: string) => {
    for await (const { key } of store.list(folder)) await store.delete(key);
  };
  const remove = async () => {
    try {
      await removeBelow("");
      await lock?.release();
    } finally {
      await store.close?.();
      if (spec?.kind === "memory") nameMemoryStore(spec.name, undefined);
    }
  };
  return {
    store,
    ...(spec?.kind !== "memory" && { spec }),
    removePass: (pass) => removeBelow(`${pass}/`),
    keep: remove,
    remove,
  };
}

/** A place of its own below another; undefined where there can be none. */
function below(place: StoreSpec, name: string): StoreSpec | undefined {
  if (place.kind === "s3")
    return { ...place, prefix: place.prefix === "" ? name : `${place.prefix}/${name}` };
  if (place.kind !== "memory") return undefined;
  nameMemoryStore(name, new MemoryStore());
  return { kind: "memory", name };
}
