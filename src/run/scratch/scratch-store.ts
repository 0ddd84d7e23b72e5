import { MemoryStore, nameMemoryStore } from "../../stores/memory.ts";
import { keepPrivateAccess } from "../../stores/remote/private-access.ts";
import { isListable, isWritable, type StoreSpec } from "../../stores/store.ts";
import { openStore } from "../../stores/url.ts";
import { SCRATCH_PREFIX } from "../../targets/leftovers.ts";
import { StoreLock } from "../../targets/store-lock.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { OpenScratchOptions, Scratch } from "./scratch.ts";

/**
 * Creates an empty place for scratch objects in a bucket or in memory, under a unique name, or takes over the one that
 * an earlier run left in the same bucket.
 *
 * @throws `invalid-option` for any other store; `locked` while another run uses the objects left there.
 */
export async function openScratchStore(
  place: StoreSpec,
  { keptBy, left, joint }: Pick<OpenScratchOptions, "keptBy" | "left" | "joint">,
): Promise<Scratch> {
  const name = (joint?.id ?? crypto.randomUUID()).slice(-12);
  const spec = leftBelow(place, left) ?? below(place, `${SCRATCH_PREFIX}${name}`);
  const store = spec && (await openStore(spec));
  if (store === undefined || !isWritable(store) || !isListable(store)) {
    await store?.close?.();
    throw new ZarrflowError("invalid-option", "scratch objects cannot be stored there", {
      found: place.kind,
      hint: "Use a folder or a prefix of a bucket.",
    });
  }
  const lock = await StoreLock.take(store, { joint: joint?.id }); // shows cleaners that the place is in use
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
  if (joint?.share) {
    const leave = async () => {
      await lock?.detach();
      await store.close?.();
    };
    return { store, ...(spec && { spec }), removePass: async () => {}, keep: leave, remove: leave };
  }
  return {
    store,
    ...(spec?.kind !== "memory" && { spec }),
    removePass: (pass) => removeBelow(`${pass}/`),
    async keep() {
      if (joint) return lock?.detach();
      if (keptBy === undefined || spec?.kind === "memory") return remove();
      await lock?.leave();
      await store.close?.();
    },
    remove,
  };
}

/** The place that an earlier run left, if it contains scratch objects below `place`. */
function leftBelow(place: StoreSpec, left: StoreSpec | undefined): StoreSpec | undefined {
  if (place.kind !== "s3" || left?.kind !== "s3" || left.bucket !== place.bucket) return undefined;
  const [, name = ""] = /(?:^|\/)([^/]*)$/.exec(left.prefix) ?? [];
  return name.startsWith(SCRATCH_PREFIX) && left.prefix === prefixBelow(place, name)
    ? keepPrivateAccess(place, { ...place, prefix: left.prefix })
    : undefined;
}

/** A new place below another; undefined if the store has no such places. */
function below(place: StoreSpec, name: string): StoreSpec | undefined {
  if (place.kind === "s3") return keepPrivateAccess(place, { ...place, prefix: prefixBelow(place, name) });
  if (place.kind !== "memory") return undefined;
  nameMemoryStore(name, new MemoryStore());
  return { kind: "memory", name };
}

function prefixBelow({ prefix }: { readonly prefix: string }, name: string): string {
  return prefix === "" ? name : `${prefix}/${name}`;
}
