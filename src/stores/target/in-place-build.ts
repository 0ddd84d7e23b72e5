import { ZarrflowError } from "../../util/errors.ts";
import type { ListableStore, TargetBuild, WritableStore } from "../store.ts";
import type { TargetBuildOptions } from "./options.ts";

/** Names of documents in any dialect: without them the other keys are not read as data. */
const DOCUMENTS = ["zarr.json", ".zmetadata", ".zarray", ".zgroup", ".zattrs", "meta", "attrs"];

/** How many keys are deleted at a time. */
const DELETIONS = 16;

/**
 * Builds a target under its final keys, where nothing can be renamed: it is whole once its documents are written, which
 * come last. What a replaced target held is deleted before.
 *
 * @throws `target-exists`
 */
export async function openInPlaceBuild(
  store: WritableStore & ListableStore,
  { ifExists }: TargetBuildOptions,
): Promise<TargetBuild> {
  if (await hasKeys(store)) {
    if (ifExists !== "replace") {
      throw new ZarrflowError("target-exists", "there are objects at the target", {
        store: store.description,
        hint: "Replace it, or name another target.",
      });
    }
    await deleteAll(store);
  }
  return {
    store,
    reopen: async () => store,
    publish: async ({ signal } = {}) => signal?.throwIfAborted(),
    discard: () => deleteAll(store),
  };
}

async function hasKeys(store: ListableStore): Promise<boolean> {
  for await (const _ of store.list("")) return true;
  return false;
}

/** Documents first, so that what is left at any moment is no array. */
async function deleteAll(store: WritableStore & ListableStore): Promise<void> {
  await deleteWhere(store, (key) => DOCUMENTS.includes(key.slice(key.lastIndexOf("/") + 1)));
  await deleteWhere(store, () => true);
}

async function deleteWhere(
  store: WritableStore & ListableStore,
  isMeant: (key: string) => boolean,
): Promise<void> {
  let batch: Promise<void>[] = [];
  for await (const { key } of store.list("")) {
    if (!isMeant(key)) continue;
    batch.push(store.delete(key));
    if (batch.length < DELETIONS) continue;
    await Promise.all(batch);
    batch = [];
  }
  await Promise.all(batch);
}
