import { inflateSync } from "node:zlib";
import { expect } from "vitest";
import { create, createGroup, open, setAttributes } from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { writeSpecExample } from "../../support/spec-example.ts";
import type { Row } from "../rows.ts";
import { codecsIn, fillIn, sortedKeys, textAt } from "../stores.ts";

/** The first example: 1 in one quarter, 2 beside it, 3 below, where as many quarters are written. */
async function written(quarters: 1 | 3): Promise<MemoryStore> {
  const store = new MemoryStore();
  const writer = await create(store, {
    ...{
      zarrFormat: "v2",
      shape: [20, 20],
      chunks: [10, 10],
      dataType: "<i4",
      fillValue: 42,
      codec: "zlib:1",
    },
  });
  const ten = [
    [0, 10],
    [10, 20],
  ] as const;
  await writer.write([ten[0], ten[0]], new Int32Array(100).fill(1));
  if (quarters === 3) {
    await writer.write([ten[0], ten[1]], new Int32Array(100).fill(2));
    await writer.write([ten[1], [0, 20]], new Int32Array(200).fill(3));
  }
  await writer.close();
  return store;
}

async function attributed(): Promise<MemoryStore> {
  const store = await written(1);
  await setAttributes(await open(store), { foo: 42, bar: "apples", baz: [1, 2, 3, 4] });
  return store;
}

async function hierarchy(): Promise<MemoryStore> {
  const store = new MemoryStore();
  await writeSpecExample(await createGroup(store, { zarrFormat: "v2" }));
  return store;
}

const THIRD = {
  ".zarray": {
    ...{ zarr_format: 2, shape: [10_000, 10_000], chunks: [1000, 1000], dtype: "<f8", order: "C" },
    compressor: { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1 },
    fill_value: "NaN",
    filters: [{ id: "delta", dtype: "<f8", astype: "<f4" }],
  },
};

export const exampleRows: readonly Row[] = [
  ["V2-90", "264 bytes of metadata", async () => (await textAt(await written(1), ".zarray")).length, 264],
  ["V2-90", "no attributes so far", async () => sortedKeys(await written(1)), [".zarray", "0.0"]],
  ["V2-90", "four chunks", async () => sortedKeys(await written(3)), [".zarray", "0.0", "0.1", "1.0", "1.1"]],
  [
    "V2-90",
    "a chunk of ones",
    async () =>
      inflateSync((await (await written(1)).get("0.0")) ?? "").equals(
        Buffer.from(Int32Array.from({ length: 100 }, () => 1).buffer),
      ),
    true,
  ],
  ["V2-90", "101 bytes of attributes", async () => (await textAt(await attributed(), ".zattrs")).length, 101],
  [
    "V2-91",
    "exactly these keys",
    async () => sortedKeys(await hierarchy()),
    [
      ".zgroup",
      "foo/.zgroup",
      ...[".zarray", ".zattrs", "0.0", "0.1", "1.0", "1.1"].map((key) => `foo/bar/${key}`),
    ],
  ],
  [
    "V2-92",
    "its codecs",
    () => codecsIn(THIRD),
    [
      ["bytes", { endian: "little" }],
      ["delta", { dtype: "<f8", astype: "<f4" }],
      ["blosc", expect.objectContaining({ cname: "lz4", clevel: 5, shuffle: "shuffle" })],
    ],
  ],
  [
    "V2-92",
    "its fill value",
    () => fillIn({ ".zarray": { ...THIRD[".zarray"], shape: [1, 1] } }),
    Number.NaN,
  ],
];
