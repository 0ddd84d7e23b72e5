import { describe, expect, it } from "vitest";
import { info } from "../../src/flows/info.ts";
import type { MemoryStore } from "../../src/stores/memory.ts";
import { streamFrom } from "../../src/streams/web.ts";
import { all, drain } from "../support/consume.ts";
import { givenKeys } from "../support/given.ts";

const NODE = { zarr_format: 3, node_type: "group", attributes: { title: "many" } };
const ARRAY = {
  ...{ zarr_format: 3, node_type: "array", shape: [4], data_type: "int32", fill_value: 0 },
  chunk_grid: { name: "regular", configuration: { chunk_shape: [2] } },
  chunk_key_encoding: { name: "default" },
  codecs: [{ name: "bytes", configuration: { endian: "little" } }],
};

const nameOf = (i: number) => `a${String(i).padStart(2, "0")}`;

function group(arrays: number): Promise<MemoryStore> {
  const documents: Record<string, object> = { "zarr.json": NODE };
  for (let i = 0; i < arrays; i++) documents[`${nameOf(i)}/zarr.json`] = ARRAY;
  return givenKeys(documents);
}

describe("info of a group", () => {
  it("lists the keys of several arrays at one time, and describes them in order", async () => {
    const store = await group(20);
    const { list } = store;
    let [now, most] = [0, 0];
    async function* slow(...args: Parameters<typeof list>) {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      yield* list.apply(store, args);
      now--;
    }
    store.list = (...args) => streamFrom(slow(...args));
    const paths = (await all(info(store))).map(({ path }) => path);
    expect(paths).toEqual(Array.from({ length: 20 }, (_, i) => nameOf(i)));
    expect(most).toBeGreaterThan(4);
  });

  it("throws for the first broken node, or with `all` reports it and adds up the others", async () => {
    const store = await group(3);
    await store.set("a01/zarr.json", new TextEncoder().encode("{"));
    const nodes = await all(info(store, { all: true }));
    expect(nodes.map((node) => node.kind)).toEqual(["group", "array", "broken", "array", "totals"]);
    expect(nodes[0]).toMatchObject({ attributes: { title: "many" } });
    expect(nodes.at(-1)).toMatchObject({ arrays: 2, groups: 1, broken: 1, chunks: 4, chunksPresent: 0 });
    await expect(drain(info(store))).rejects.toMatchObject({ code: "invalid-metadata" });
  });
});
