import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  convert,
  copy,
  create,
  createGroup,
  deleteNode,
  open,
  openArray,
  setAttributes,
  slice,
  tree,
} from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { UnlistedStore } from "../hierarchy/stores.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { all, digestOf, keysOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { documentIn, writeV1Array } from "../support/v1-store.ts";

const folder = temporaryFolder();
const ramp = Int32Array.from({ length: 30 }, (_, i) => i - 7);

async function made(array: Parameters<typeof writeV1Array>[1], items: ArrayBufferView): Promise<string> {
  const target = folder.next("a.zarr");
  await writeV1Array(target, array, items);
  return target;
}

describe("arrays side by side", () => {
  const folderOfTwo = async () => {
    const root = folder.next("two");
    const array = { chunks: [2], dataType: "uint8", zarrFormat: "v1", values: [1, 2, 3, 4] } as const;
    for (const name of ["b", "a"]) await given({ at: join(root, name), ...array });
    return root;
  };

  test("are no group: the folder is nothing, and its arrays are offered", async () => {
    const root = await folderOfTwo();
    expect(readdirSync(root).sort()).toEqual(["a", "b"]);
    for (const act of [open, (url: string) => all(tree(url))]) {
      await expect(act(root)).rejects.toMatchObject({
        code: "not-found",
        details: { hint: "Name one of the folders inside it: a, b." },
      });
    }
    expect(await all(tree(join(root, "a")))).toMatchObject([{ path: "", kind: "array", zarrFormat: "v1" }]);
    await copy(root, `${root}.copy`);
    expect(readdirSync(`${root}.copy`).sort()).toEqual(["a", "b"]);
  });

  test("are what is left of a group, where that is allowed", async () => {
    const a = { chunks: [2], dataType: "uint8", codec: "blosc", values: [1, 2, 3, 4] };
    const source = await given({ at: folder.next("group.zarr"), attributes: { title: "x" }, arrays: { a } });
    await expect(convert(source, `${source}.v1`, { to: "v1" })).rejects.toMatchObject({
      code: "loss-refused",
      details: { pointers: ["/node_type", "/attributes"] },
    });
    await convert(source, `${source}.v1`, {
      to: "v1",
      allowLoss: ["/node_type", "/attributes"],
      verify: true,
    });
    expect(readdirSync(`${source}.v1`)).toEqual(["a"]);
    expect(await digestOf(`${source}.v1/a`)).toBe(await digestOf(`${source}/a`));
  });
});

describe("an array of v1 in place", () => {
  test("grows, gets other attributes, and goes", async () => {
    const target = folder.next("grown.zarr");
    const writer = await create(target, {
      shape: [0, 3],
      chunks: [2, 3],
      dataType: "int16",
      zarrFormat: "v1",
    });
    await writer.append([Int16Array.of(1, 2, 3), Int16Array.of(4, 5, 6), Int16Array.of(7, 8, 9)]);
    await writer.close();
    expect(documentIn(target)).toMatchObject({ shape: [3, 3] });
    const before = readFileSync(join(target, "meta"));
    const array = await setAttributes(await open(target), { units: "K", note: undefined });
    expect(array.attributes).toEqual({ units: "K" });
    expect(documentIn(target, "attrs")).toEqual({ units: "K" });
    expect(readFileSync(join(target, "meta"))).toEqual(before);
    expect([...(await slice(target).read()).data]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await deleteNode(array);
    expect(readdirSync(target)).toEqual([]);
  });

  test("has no array below it, and is part of no other hierarchy", async () => {
    const source = await made({ dataType: "int32" }, ramp);
    const array = { shape: [1], chunks: [1], dataType: "int8" } as const;
    await expect(create(join(source, "b"), array)).rejects.toMatchObject({ code: "path-not-allowed" });
    const root = folder.next("group.zarr");
    await (await createGroup(root)).close();
    await expect(create(join(root, "b"), { ...array, zarrFormat: "v1" })).rejects.toMatchObject({
      code: "invalid-option",
      details: { expected: "v3", found: "v1" },
    });
  });

  test("is read by URL where documents of another format come first", async () => {
    const source = await made({ dataType: "int32", attributes: { a: 1 } }, ramp);
    const other = { zarr_format: 3, node_type: "group", attributes: { b: 2 } };
    await writeFile(join(source, "zarr.json"), JSON.stringify(other));
    const group = await open(source);
    expect(group).toMatchObject({ kind: "group", attributes: { b: 2 } });
    expect(group.findings).toMatchObject([{ message: expect.stringContaining("meta") }]);
    expect(await open(`${source}|zarr1:`)).toMatchObject({
      kind: "array",
      attributes: { a: 1 },
      findings: [],
    });
  });

  test("lies in a folder of any store, also of one that cannot list", async () => {
    const items = { chunks: [2], dataType: "uint8", attributes: { a: 1 }, values: [1, 2, 3, 4] };
    const place = { store: new MemoryStore(), path: "a/b" };
    const { store } = await given({ at: place, zarrFormat: "v1", ...items });
    expect(await keysOf(store)).toEqual(["a/b/0", "a/b/1", "a/b/attrs", "a/b/meta"]);
    const array = await openArray({ store: new UnlistedStore(store), path: "a/b" });
    expect(array.attributes).toEqual({ a: 1 });
    expect([...(await slice(array).read()).data]).toEqual([1, 2, 3, 4]);
  });
});
