import { mkdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createGroup, open, openArray, openGroup, slice, walk } from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { openZipFile } from "../../../src/stores/zip.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { failOnUnhandledRejections, rejection, TestStore } from "../../streams/support.ts";
import { all, keysOf } from "../../support/consume.ts";
import { codeOf, everythingIn, jsonAt } from "../keys.ts";

failOnUnhandledRejections();
const folder = temporaryFolder();

const array = { shape: [3], dataType: "uint8", chunks: [2] } as const;
const values = Uint8Array.of(1, 2, 3);

async function filled(
  target: Parameters<typeof createGroup>[0],
  options: Parameters<typeof createGroup>[2] = {},
) {
  const group = await createGroup(target, { attributes: { title: "t" } }, options);
  const inner = await group.createGroup("inner", { attributes: { deep: true } });
  for (const parent of [group, inner]) {
    const writer = await parent.create("a", array);
    await writer.write([], values);
    await writer.close();
  }
  await inner.close();
  return group;
}

describe("a group with what is in it", () => {
  test.each(["g.zarr", "g.zarr.zip", "plain"])("appears at once: %s", async (name) => {
    const target = folder.next(name);
    const group = await filled(target);
    await expect(open(target)).rejects.toMatchObject({ code: "not-found" });
    await group.close();
    const root = await openGroup(target);
    expect(root.attributes).toEqual({ title: "t" });
    const nodes = (await all(walk(root))).map((node) => `${node.kind} ${node.path}`);
    expect(nodes).toEqual(["array a", "group inner", "array inner/a"]);
    expect((await slice(`${target}/inner/a`).read()).data).toEqual(values);
  });

  test("inside another group, in a store of the caller's: documents last, upwards", async () => {
    const store = new MemoryStore();
    const group = await filled({ store, path: "x/g" });
    expect((await keysOf(store)).filter((key) => key.endsWith(".json"))).toEqual([]);
    await group.close();
    expect((await keysOf(store)).filter((key) => key.endsWith(".json"))).toEqual([
      "x/g/a/zarr.json",
      "x/g/inner/a/zarr.json",
      "x/g/inner/zarr.json",
      "x/g/zarr.json",
      "x/zarr.json",
      "zarr.json",
    ]);
  });

  test("over nodes that have no group yet", async () => {
    const store = new MemoryStore();
    await (await filled({ store, path: "x" })).close();
    await store.delete("zarr.json");
    await (await createGroup(store)).close();
    expect((await open(store)).kind).toBe("group");
    await store.delete("zarr.json");
    expect(await codeOf(createGroup(store, {}, { consolidated: true }))).toBe("target-not-empty");
  });

  test.each(["v2", "v3"] as const)("with consolidated metadata: %s", async (zarrFormat) => {
    const target = folder.next("g.zarr.zip");
    const group = await createGroup(target, { zarrFormat }, { consolidated: true });
    const inner = await group.createGroup("inner");
    await (await inner.create("a", { ...array, dimensionNames: ["x"] })).close();
    await inner.close();
    await group.close();
    const store = await openZipFile(target);
    if (zarrFormat === "v2") {
      const { metadata } = await jsonAt(store, ".zmetadata");
      expect(Object.keys(metadata)).toEqual([
        ".zgroup",
        "inner/.zgroup",
        "inner/a/.zarray",
        "inner/a/.zattrs",
      ]);
    } else {
      const { consolidated_metadata: consolidated } = await jsonAt(store, "zarr.json");
      expect(Object.keys(consolidated.metadata).sort()).toEqual(["inner", "inner/a"]);
    }
    await store.close();
  });
});

describe("giving up", () => {
  test.each(["g.zarr", "g.zarr.zip"])("the group leaves nothing: %s", async (name) => {
    const place = folder.next("place");
    mkdirSync(place, { recursive: true });
    const group = await filled(`${place}/${name}`);
    const open = await group.create("open", array);
    await open.write([[0, 2]], values.subarray(0, 2));
    await group.abort();
    expect(everythingIn(place)).toEqual([]);
    expect(await rejection(open.close())).toMatchObject({ code: "unsupported-operation" });
    expect(await rejection(group.create("late", array))).toMatchObject({ code: "unsupported-operation" });
  });

  test("the group leaves nothing in a store of the caller's, and what others put below it stays", async () => {
    const store = new MemoryStore();
    await store.set("g/other/c/0", values);
    const group = await filled({ store, path: "g" });
    await group.abort();
    expect(await keysOf(store)).toEqual(["g/other/c/0"]);
  });

  test("one member leaves the others, and its name is free again", async () => {
    const store = new MemoryStore();
    const group = await createGroup(store);
    const first = await group.create("a", array);
    await first.write([], values);
    await first.abort();
    await (await group.create("a", { ...array, shape: [1] })).close();
    await group.close();
    expect((await openArray({ store, path: "a" })).shape).toEqual([1]);
    expect(await keysOf(store)).toEqual(["a/zarr.json", "zarr.json"]);
  });

  test("one member of an archive gives the archive up", async () => {
    const target = folder.next("g.zip");
    const group = await createGroup(target);
    const reason = new Error("enough");
    await (await group.create("a", array)).abort(reason);
    expect(await rejection(group.close())).toBe(reason);
    await expect(open(target)).rejects.toMatchObject({ code: "not-found" });
  });

  test("a failure to publish", async () => {
    const store = new TestStore();
    const broken = new Error("no");
    const group = await createGroup({ store, path: "g" });
    const writer = await group.create("a", array);
    await writer.write([], values);
    await writer.close();
    store.beforeSet = (key) => {
      if (key === "g/zarr.json") throw broken;
    };
    expect(await rejection(group.close())).toMatchObject({ code: "transient", cause: broken });
    expect([...store.values.keys()].filter((key) => key.startsWith("g/a/c"))).toEqual([]);
  });
});

describe("members that are refused", () => {
  test.each([
    ["", "invalid-node-name"],
    ["a/b", "invalid-node-name"],
    ["__a", "invalid-node-name"],
    ["taken", "target-exists"],
  ])("%j", async (name, code) => {
    const group = await createGroup(new MemoryStore());
    await group.createGroup("taken");
    await expect(group.create(name, array)).rejects.toMatchObject({ code });
    await expect(group.createGroup(name)).rejects.toMatchObject({ code });
    await group.abort();
  });

  test("a group is not closed before its members", async () => {
    const store = new MemoryStore();
    const group = await createGroup(store);
    const writer = await group.create("a", array);
    await expect(group.close()).rejects.toMatchObject({
      code: "unsupported-operation",
      message: expect.stringContaining("`a`"),
    });
    await writer.close();
    await group.close();
    expect((await openGroup(store)).kind).toBe("group");
  });
});
