import { describe, expect, test, vi } from "vitest";
import { withChunkSeparator } from "../../src/hierarchy/chunk-separator.ts";
import { axesFromAbove } from "../../src/hierarchy/open/above-on-use.ts";
import { open, openArray, openGroup } from "../../src/index.ts";
import type { Store } from "../../src/stores/store.ts";
import { unlessAborted } from "../../src/util/abort.ts";
import { given } from "../support/given.ts";
import { until } from "../support/until.ts";

const ARRAY = { shape: [4, 6], chunks: [2, 3], dataType: "int8" };

/** A store that cannot list, and answers while its gate is open; a request that waits there can be aborted. */
class GatedStore implements Store {
  readonly description = "gated";
  waiting = 0;
  #open = Promise.resolve();
  #resume = () => {};
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  shut(): () => void {
    this.#open = new Promise((resolve) => {
      this.#resume = resolve;
    });
    return this.#resume;
  }

  get(...[key, options]: Parameters<Store["get"]>) {
    return this.#answer(() => this.#store.get(key, options), options?.signal);
  }

  size(...[key, options]: Parameters<Store["size"]>) {
    return this.#answer(() => this.#store.size(key, options), options?.signal);
  }

  async #answer<T>(ask: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    this.waiting++;
    await unlessAborted(this.#open, signal);
    this.waiting--;
    return ask();
  }
}

/** Two callers at once, the first of whom is aborted while the store is asked; what the second gets. */
async function withFirstAborted<T>(
  store: GatedStore,
  find: (signal?: AbortSignal) => Promise<T>,
): Promise<T> {
  const resume = store.shut();
  const stop = new AbortController();
  const [first, second] = [find(stop.signal), find()];
  await until(() => store.waiting > 0);
  stop.abort();
  await expect(first).rejects.toMatchObject({ code: "aborted" });
  resume();
  return second;
}

describe("who looks something up together with one who is aborted finds", () => {
  test("the members of a group", async () => {
    const memory = await given({ zarrFormat: "v2", arrays: { t: ARRAY }, consolidated: true });
    const store = new GatedStore(memory);
    const group = await openGroup(store);
    const found = await withFirstAborted(store, (signal) => open(group, "t", { signal }));
    expect(found.kind).toBe("array");
  });

  test("the separator of keys", async () => {
    const store = new GatedStore(await unstated());
    const array = await openArray(store);
    const found = await withFirstAborted(store, (signal) => withChunkSeparator(array, { signal }));
    expect(found).toBe(array);
  });

  test("the axes of an image", async () => {
    const store = new GatedStore(await given({ zarrFormat: "v2", arrays: { t: ARRAY } }));
    const array = await openArray({ store, path: "t" });
    expect(await withFirstAborted(store, (signal) => axesFromAbove(array, signal))).toBeUndefined();
  });
});

test("the document is looked at once for its separator", async () => {
  for (const store of [await unstated(), await given({ ...ARRAY, zarrFormat: "v2", separator: "." })]) {
    const array = await openArray(store);
    const read = vi.spyOn(array.documents, "get");
    for (let i = 0; i < 3; i++) await array.chunk([0, 0]);
    expect(read.mock.calls.filter(([key]) => key.endsWith(".zarray"))).toHaveLength(1);
  }
});

/** An array of v2 that states no separator. */
async function unstated() {
  const store = await given({ ...ARRAY, zarrFormat: "v2" });
  const { dimension_separator: _, ...zarray } = JSON.parse(
    new TextDecoder().decode(await store.get(".zarray")),
  );
  await store.set(".zarray", new TextEncoder().encode(JSON.stringify(zarray)));
  return store;
}
