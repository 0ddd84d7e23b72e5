import type { Store, WritableStore } from "../store.ts";
import { type CheckDetails, equal, refuses, rejectsWith, returns } from "./assert.ts";
import { BAD_KEYS, check, DEFINED, type StoreCheck, type StoreHarness, sample } from "./harness.ts";
import { recorded, unrecorded } from "./recorded-calls.ts";

export function writeChecks(harness: StoreHarness, empty: () => Promise<WritableStore>): StoreCheck[] {
  const read = async (store: WritableStore, body: (store: Store) => Promise<void>) => {
    if (harness.reopened === undefined) return body(store);
    const reopened = await harness.reopened(unrecorded(store));
    try {
      await body(recorded(reopened));
    } finally {
      await reopened.close?.();
    }
  };
  const holds = (
    store: WritableStore,
    values: Readonly<Record<string, Uint8Array | undefined>>,
    reading?: CheckDetails,
  ) =>
    read(store, async (written) => {
      for (const [key, value] of Object.entries(values)) await returns(written.get(key), value, reading);
    });
  return [
    check("set writes values of any length", empty, async (store) => {
      const values = {
        "a/0.0": sample(10),
        "a/.zarray": new Uint8Array(0),
        long: sample(700_000),
        b: sample(1),
      };
      for (const [key, value] of Object.entries(values)) await store.set(key, value);
      await holds(store, values);
    }),
    check("the caller may reuse the buffer after set", empty, async (store) => {
      for (const length of [7, 300_000]) {
        const memory = sample(length + 32);
        const value = memory.subarray(16, 16 + length);
        await store.set(`${length}`, value);
        value.fill(0);
      }
      const values = { 7: sample(39).subarray(16, 23), 300000: sample(300_032).subarray(16, 300_016) };
      await holds(store, values, { hint: "Copy the bytes that `set` is given." });
    }),
    check("values are set concurrently, in folders that do not exist", empty, async (store) => {
      const values = Object.fromEntries(
        Array.from({ length: 60 }, (_, i) => [`x/c/${i % 7}/${i}`, sample(i, i)]),
      );
      await Promise.all(Object.entries(values).map(([key, value]) => store.set(key, value)));
      await holds(store, values);
    }),
    check("a writer's value is the sequence of its pieces", empty, async (store) => {
      const writer = await store.openWriter("shard/c/0");
      const piece = new Uint8Array(100_000);
      for (let i = 0; i < 5; i++) {
        piece.set(sample(500_000).subarray(i * 100_000, (i + 1) * 100_000));
        await writer.write(piece);
        piece.fill(0);
      }
      await writer.commit();
      const unused = await store.openWriter("none");
      await unused.commit();
      const values = { "shard/c/0": sample(500_000), none: new Uint8Array(0) };
      await holds(store, values, { hint: "Copy the bytes that `write` is given." });
    }),
    check("an unused writer that is aborted leaves the key free", empty, async (store) => {
      const writer = await store.openWriter("a/0");
      await writer.abort(new Error("changed my mind"));
      await writer.abort();
      await store.set("a/0", sample(5));
      await holds(store, { "a/0": sample(5) });
    }),
    check("a writer rejects data after its end", empty, async (store) => {
      const committed = await store.openWriter("a");
      await committed.write(sample(4));
      await committed.commit();
      await refuses(committed.write(sample(1)), undefined);
      await refuses(committed.commit(), undefined);
      await committed.abort();
      await holds(store, { a: sample(4) });
    }),
    check("invalid keys are rejected", empty, async (store) => {
      for (const key of BAD_KEYS) {
        await refuses(store.set(key, sample(1)), "path-not-allowed", { hint: DEFINED });
        await refuses(store.openWriter(key), "path-not-allowed", { hint: DEFINED });
        await refuses(store.delete(key), "path-not-allowed", { hint: DEFINED });
      }
    }),
    check("names of JavaScript properties are ordinary keys", empty, async (store) => {
      for (const key of ["__proto__", "constructor"]) await store.set(key, sample(3));
      await read(store, async (written) => {
        for (const key of ["__proto__", "constructor"]) await returns(written.get(key), sample(3));
      });
    }),
    check("an aborted signal's reason is passed on, and nothing is written", empty, async (store) => {
      const reason = { why: "enough" };
      const signal = AbortSignal.abort(reason);
      await rejectsWith(store.set("a", sample(1), { signal }), reason);
      await rejectsWith(store.openWriter("a", { signal }), reason);
      await rejectsWith(store.delete("a", { signal }), reason);
      const controller = new AbortController();
      const writer = await store.openWriter("a", { signal: controller.signal });
      controller.abort(reason);
      await rejectsWith(writer.write(sample(1)), reason);
      await rejectsWith(writer.commit(), reason);
      await writer.abort(reason);
      await holds(store, { a: undefined });
    }),
    check("removing an absent key succeeds", empty, async (store) => {
      for (const key of ["none", "none/none"]) await store.delete(key);
    }),
    ...(harness.reopened === undefined ? [...rewriteChecks(empty), ...renameChecks(empty)] : []),
  ];
}

/** Makes checks of stores whose values can be read, replaced and deleted at any time. */
function rewriteChecks(empty: () => Promise<WritableStore>): StoreCheck[] {
  return [
    check("set replaces a value, also with a shorter one", empty, async (store) => {
      for (const length of [100, 300_000, 3]) await store.set("a/b", sample(length));
      await returns(store.get("a/b"), sample(3));
    }),
    check("delete removes only the value", empty, async (store) => {
      await store.set("a/b/0", sample(1));
      await store.set("a/b/1", sample(2));
      await store.delete("a/b");
      await store.delete("a/b/0");
      await returns(store.get("a/b/0"), undefined);
      await returns(store.get("a/b/1"), sample(2));
      await store.delete("a/b/1");
      await store.set("a/b/0", sample(3));
      await returns(store.get("a/b/0"), sample(3));
    }),
    check("concurrent deletes and sets in one folder", empty, async (store) => {
      for (let i = 0; i < 20; i++) {
        await store.set("x/y/0", sample(1));
        await Promise.all([
          store.delete("x/y/0"),
          store.set("x/y/1", sample(2)),
          store.set("x/z/1", sample(3)),
        ]);
        await returns(store.get("x/y/1"), sample(2));
        await Promise.all([store.delete("x/y/1"), store.delete("x/z/1")]);
      }
    }),
    check("a value is not visible before commit", empty, async (store) => {
      await store.set("old", sample(9));
      for (const key of ["old", "new"]) {
        const before = await store.get(key);
        const writer = await store.openWriter(key);
        await writer.write(sample(300_000));
        await returns(store.get(key), before, { hint: "A writer publishes its value when it is committed." });
        await writer.commit();
        await returns(store.get(key), sample(300_000));
      }
    }),
    check("an aborted writer changes nothing", empty, async (store) => {
      const reason = new Error("changed my mind");
      await store.set("old", sample(9));
      for (const key of ["old", "folder/new"]) {
        const before = await store.get(key);
        const writer = await store.openWriter(key);
        await writer.write(sample(300_000));
        const late = writer
          .write(sample(300_000))
          .catch((error) => equal(error, reason, "the error of a write that is aborted"));
        await Promise.all([writer.abort(reason), late]);
        await rejectsWith(writer.write(sample(1)), reason);
        await rejectsWith(writer.commit(), reason);
        await returns(store.get(key), before, { hint: "An aborted writer leaves the value as it was." });
      }
    }),
  ];
}

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
