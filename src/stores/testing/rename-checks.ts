import type { WritableStore } from "../store.ts";
import { refuses, returns } from "./assert.ts";
import { check, type StoreCheck, sample } from "./harness.ts";

type RenamingStore = WritableStore & Required<Pick<WritableStore, "rename">>;

/** Makes checks of stores that can rename; other stores pass them. */
export function renameChecks(empty: () => Promise<WritableStore>): StoreCheck[] {
  const renaming = (name: string, body: (store: RenamingStore) => Promise<void>) =>
    check(name, empty, async (store) => {
      if (canRename(store)) await body(store);
    });
  const holds = async (store: WritableStore, values: Readonly<Record<string, Uint8Array | undefined>>) => {
    for (const [key, value] of Object.entries(values)) await returns(store.get(key), value);
  };
  return [
    renaming("rename moves only the value", async (store) => {
      for (const [i, key] of ["a/b", "a/bb", "a/c"].entries()) await store.set(key, sample(9, i));
      await store.rename("a/b", "x/y/z");
      await holds(store, {
        "a/b": undefined,
        "x/y/z": sample(9, 0),
        "a/bb": sample(9, 1),
        "a/c": sample(9, 2),
      });
      await store.set("a/b", sample(3));
      await holds(store, { "a/b": sample(3), "x/y/z": sample(9, 0) });
    }),
    renaming("rename moves everything below a prefix, and nothing else", async (store) => {
      for (const [i, key] of ["a/b/0", "a/b/c/1", "a/bc/0", "a/0"].entries()) {
        await store.set(key, sample(5, i));
      }
      await store.rename("a/b/", "new/folder/");
      await holds(store, { "a/b/0": undefined, "a/b/c/1": undefined });
      await holds(store, { "new/folder/0": sample(5, 0), "new/folder/c/1": sample(5, 1) });
      await holds(store, { "a/bc/0": sample(5, 2), "a/0": sample(5, 3) });
      await store.set("a/b/0", sample(2));
      await holds(store, { "a/b/0": sample(2), "new/folder/0": sample(5, 0) });
    }),
    renaming("renaming a missing key does nothing", async (store) => {
      await store.set("x/0", sample(4));
      await store.rename("none", "x/0");
      await store.rename("none/", "x/");
      await store.rename("x", "y");
      await holds(store, { "x/0": sample(4), y: undefined });
    }),
    renaming("rename replaces nothing", async (store) => {
      for (const key of ["a/0", "b/0", "c"]) await store.set(key, sample(4));
      await refuses(store.rename("a/", "b/"), "target-exists");
      await refuses(store.rename("a/0", "c"), "target-exists");
      await holds(store, { "a/0": sample(4), "b/0": sample(4), c: sample(4) });
    }),
    renaming("rename takes two keys or two prefixes, neither below the other", async (store) => {
      await store.set("a/b/0", sample(4));
      const bad = [
        ["a", "b/"],
        ["a/", "a/b/"],
        ["a/b/", "a/"],
        ["", "b"],
        ["a/b/0", "../c"],
        ["a/", "a/"],
      ] as const;
      for (const [from, to] of bad) {
        await refuses(store.rename(from, to), "path-not-allowed");
      }
      await holds(store, { "a/b/0": sample(4) });
    }),
  ];
}

function canRename(store: WritableStore): store is RenamingStore {
  return store.rename !== undefined;
}
