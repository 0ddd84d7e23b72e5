import { isListable, type ListableStore, type ListedEntry } from "../store.ts";
import { equal, refuses, rejectsWith } from "./assert.ts";
import { BAD_KEYS, check, type StoreCheck, type StoreHarness, sample } from "./harness.ts";

/** In the order of their UTF-8 bytes; the last two are the other way round as JavaScript orders strings. */
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

export function listChecks(harness: StoreHarness): StoreCheck[] {
  const filled = (keys: readonly string[]) => async (): Promise<ListableStore> => {
    const store = await harness.filled(new Map(keys.map((key, i) => [key, sample(i)])));
    if (!isListable(store)) throw new Error("the store cannot list");
    return store;
  };
  const open = filled(KEYS);
  return [
    check("list lists every key once, sorted by UTF-8 bytes", open, async (store) => {
      equal(await keysOf(store.list("")), KEYS, "all keys");
      equal(
        await keysOf(store.list("a/")),
        KEYS.filter((key) => key.startsWith("a/")),
        "keys below a/",
      );
      equal(await keysOf(store.list("a/deep/er/")), ["a/deep/er/0"], "keys below a/deep/er/");
      for (const prefix of ["none/", "a0/", "a/deep/none/"])
        equal(await keysOf(store.list(prefix)), [], prefix);
    }),
    check("listDirectory lists one level, each prefix once, sorted by UTF-8 bytes", open, async (store) => {
      const names = async (prefix: string) => keysOf(store.listDirectory(prefix));
      equal(
        await names(""),
        [".zgroup", "a-b", "a.b", "a/", "a0", "été", "\uff5e/", "\u{1f600}"],
        "the root",
      );
      equal(await names("a/"), ["a/.zarray", "a/0.0", "a/0.1", "a/10.0", "a/deep.er", "a/deep/"], "a/");
      for (const prefix of ["none/", "a0/"]) equal(await names(prefix), [], prefix);
    }),
    check("listings give the right sizes", open, async (store) => {
      for await (const { key, size } of store.list("")) {
        if (size !== undefined) equal(size, await store.size(key), key);
      }
      for await (const entry of store.listDirectory("a/")) {
        if ("key" in entry && entry.size !== undefined)
          equal(entry.size, await store.size(entry.key), entry.key);
      }
    }),
    check("a store without keys lists nothing", filled([]), async (store) => {
      equal(await keysOf(store.list("")), [], "list");
      equal(await keysOf(store.listDirectory("")), [], "listDirectory");
    }),
    check("a listing may be ended early", open, async (store) => {
      for await (const { key } of store.list("a/")) {
        equal(key, "a/.zarray", "the first key");
        break;
      }
      await store.listDirectory("").cancel();
      equal(await keysOf(store.list("")), KEYS, "all keys");
    }),
    check("invalid prefixes are rejected", open, async (store) => {
      for (const prefix of [
        "a",
        ...BAD_KEYS.filter((key) => key !== "" && key !== "a/").map((key) => `${key}/`),
      ]) {
        const list = async () => keysOf(store.list(prefix));
        const listDirectory = async () => keysOf(store.listDirectory(prefix));
        await refuses(list(), "path-not-allowed", `list ${JSON.stringify(prefix)}`);
        await refuses(listDirectory(), "path-not-allowed", `listDirectory ${JSON.stringify(prefix)}`);
      }
    }),
    check("an aborted signal ends a listing with its reason", open, async (store) => {
      const reason = { why: "enough" };
      const aborted = AbortSignal.abort(reason);
      await rejectsWith(keysOf(store.list("", { signal: aborted })), reason, "list");
      await rejectsWith(keysOf(store.listDirectory("", { signal: aborted })), reason, "listDirectory");
      const controller = new AbortController();
      const abortMidway = async () => {
        for await (const _ of store.list("", { signal: controller.signal })) controller.abort(reason);
      };
      await rejectsWith(abortMidway(), reason, "list, aborted midway");
    }),
  ];
}

async function keysOf(entries: AsyncIterable<ListedEntry>): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of entries) names.push("key" in entry ? entry.key : entry.prefix);
  return names;
}
