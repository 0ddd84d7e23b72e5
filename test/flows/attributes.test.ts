import { expect, test } from "vitest";
import { rechunk } from "../../src/flows/index.ts";
import { openArray } from "../../src/hierarchy/open/open.ts";
import { namedMemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import { makeArray } from "../support/made-array.ts";

test("attributes with a bare NaN, as Python writes them, survive a rechunk byte for byte", async () => {
  const { store } = await makeArray({
    shape: [4],
    chunks: [2],
    order: "C",
    itemSize: 1,
    missing: 0,
    seed: 1,
  });
  const attributes = '{"_FillValue": NaN,\n "units":"K", "_ARRAY_DIMENSIONS": ["x"]}';
  await store.set(".zattrs", new TextEncoder().encode(attributes));
  await rechunk(await openArray(store), "memory:nan", { chunks: { x: 4 } });
  const written = await namedMemoryStore("nan")?.get(".zattrs");
  expect(new TextDecoder().decode(written)).toBe(attributes);
  nameMemoryStore("nan", undefined);
});
