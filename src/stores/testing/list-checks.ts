import { isListable, type ListableStore } from "../store.ts";
import { equal, lists, namesOf, refuses, rejectsWith } from "./assert.ts";
import { BAD_KEYS, check, DEFINED, type Filled, type StoreCheck, sample } from "./harness.ts";
import { show } from "./recorded-calls.ts";

/** Sorted by UTF-8 bytes; JavaScript would sort the last two the other way round. */
const KEYS = [
  ".zgroup",
  "a-b",
  "a.b",
  "a/.zarray",
  "a/0.0",
  "a/0.1",
  "a/10.0",
  "a/deep/er/0",
  "a/deep.er",
  "a0",
  "été",
  "\uff5e/x",
  "\u{1f600}",
].sort(byUtf8);

function byUtf8(a: string, b: string): number {
  const [x, y] = [a, b].map((text) => new TextEncoder().encode(text));
  for (let i = 0; ; i++) {
    const [m, n] = [x?.[i], y?.[i]];
    if (m === undefined || n === undefined) return (x?.length ?? 0) - (y?.length ?? 0);
    if (m !== n) return m - n;
  }
}

export function listChecks(filled: Filled): StoreCheck[] {
  const opened = (keys: readonly string[]) => async (): Promise<ListableStore> => {
    const store = await filled(new Map(keys.map((key, i) => [key, sample(i)])));
    if (!isListable(store)) throw new Error("the store has no `list` or no `listDirectory`");
    return store;
  };
  const open = opened(KEYS);
  return [
    check("list lists every key once, sorted by UTF-8 bytes", open, async (store) => {
      await lists(store.list(""), KEYS);
      await lists(
        store.list("a/"),
        KEYS.filter((key) => key.startsWith("a/")),
      );
      await lists(store.list("a/deep/er/"), ["a/deep/er/0"]);
      for (const prefix of ["none/", "a0/", "a/deep/none/"]) await lists(store.list(prefix), []);
    }),
    check("listDirectory lists one level, each prefix once, sorted by UTF-8 bytes", open, async (store) => {
      const root = [".zgroup", "a-b", "a.b", "a/", "a0", "été", "\uff5e/", "\u{1f600}"];
      await lists(store.listDirectory(""), root);
      const below = ["a/.zarray", "a/0.0", "a/0.1", "a/10.0", "a/deep.er", "a/deep/"];
      await lists(store.listDirectory("a/"), below);
      for (const prefix of ["none/", "a0/"]) await lists(store.listDirectory(prefix), []);
    }),
    check("listings give the right sizes", open, async (store) => {
      for await (const { key, size } of store.list("")) {
        if (size !== undefined) equal(size, await store.size(key), `list(""): the size of ${show(key)}`);
      }
      for await (const entry of store.listDirectory("a/")) {
        if ("key" in entry && entry.size !== undefined)
          equal(
            entry.size,
            await store.size(entry.key),
            `listDirectory("a/"): the size of ${show(entry.key)}`,
          );
      }
    }),
    check("a store without keys lists nothing", opened([]), async (store) => {
      await lists(store.list(""), []);
      await lists(store.listDirectory(""), []);
    }),
    check("a listing may be ended early", open, async (store) => {
      for await (const { key } of store.list("a/")) {
        equal(key, "a/.zarray", 'list("a/"): the first key');
        break;
      }
      await store.listDirectory("").cancel();
      await lists(store.list(""), KEYS);
    }),
    check("invalid prefixes are rejected", open, async (store) => {
      const bad = ["a", ...BAD_KEYS.filter((key) => key !== "" && key !== "a/").map((key) => `${key}/`)];
      for (const prefix of bad) {
        for (const name of ["list", "listDirectory"] as const) {
          const names = async () => namesOf(store[name](prefix));
          const call = `${name}(${show(prefix)})`;
          await refuses(names(), "path-not-allowed", { call, hint: DEFINED });
        }
      }
    }),
    check("an aborted signal ends a listing with its reason", open, async (store) => {
      const reason = { why: "enough" };
      const signal = AbortSignal.abort(reason);
      for (const name of ["list", "listDirectory"] as const) {
        const names = async () => namesOf(store[name]("", { signal }));
        await rejectsWith(names(), reason, `${name}("", { signal })`);
      }
      const controller = new AbortController();
      const abortMidway = async () => {
        for await (const _ of store.list("", { signal: controller.signal })) controller.abort(reason);
      };
      await rejectsWith(abortMidway(), reason, 'list("", { signal }), aborted at the first key');
    }),
  ];
}
