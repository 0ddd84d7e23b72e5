import { isListable, type Store, type StoreSpec } from "../stores/store.ts";
import { readLock } from "../stores/target/prefix-lock.ts";
import { openStoreIfThere } from "../stores/url.ts";
import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { openNode } from "./open-node.ts";

/** A store, and a path in it. */
interface Target {
  readonly store: StoreSpec;
  readonly path: string;
}

/**
 * Checks that what is at a target, if anything, is a Zarr: nothing else is ever removed to make place for one.
 *
 * @throws `target-not-empty`
 */
export async function assertReplaceable({ store, path }: Target): Promise<void> {
  for (const spec of specsAt(store)) await assertZarr(spec, path);
}

/** All that may be at a place: a file is removed for a folder, too, and a folder for a file. */
function specsAt(spec: StoreSpec): readonly StoreSpec[] {
  if (spec.kind !== "directory" && spec.kind !== "zip") return [spec];
  const { path } = spec;
  return [
    { kind: "directory", path },
    { kind: "zip", path },
  ];
}

async function assertZarr(spec: StoreSpec, path: string): Promise<void> {
  const store = await openedIfThere(spec);
  if (!store) return;
  try {
    if (await isZarr(store, path)) return;
    throw new ZarrflowError("target-not-empty", "what is there is no Zarr, and is not removed", {
      store: store.description,
      hint: "name another target, or remove it yourself",
    });
  } finally {
    await store.close?.();
  }
}

async function openedIfThere(spec: StoreSpec): Promise<Store | undefined> {
  try {
    return await openStoreIfThere(spec);
  } catch (error) {
    if (!isZarrflowError(error, "corrupt-store")) throw error;
    throw new ZarrflowError(
      "target-not-empty",
      "what is there is no zip, and is not removed",
      error.details,
      {
        cause: error,
      },
    );
  }
}

async function isZarr(store: Store, path: string): Promise<boolean> {
  for (const place of new Set(["", path])) {
    try {
      if (await openNode(store, place)) return true;
    } catch (error) {
      if (isZarrflowError(error)) return true; // metadata that cannot be read are metadata all the same
      throw error;
    }
  }
  if (!isListable(store) || (await readLock(store))) return true; // what a run that was killed has left
  for await (const _ of store.list("")) return false;
  return true;
}
