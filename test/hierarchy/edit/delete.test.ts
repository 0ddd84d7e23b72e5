import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type CreateTarget, deleteNode, open } from "../../../src/index.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { withRequestLog } from "../../../src/stores/with/request-log.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { failOnUnhandledRejections, rejection, TestStore } from "../../streams/support.ts";
import { keysOf } from "../../support/consume.ts";
import { given } from "../../support/given.ts";
import { everythingIn, jsonAt } from "../keys.ts";

failOnUnhandledRejections();
const folder = temporaryFolder();

const array = { shape: [3, 2], dataType: "uint8", chunks: [2, 2], values: [1, 2, 3, 4, 5, 6] };
const filled = (at: CreateTarget, zarrFormat: "v2" | "v3") =>
  given({ at, zarrFormat, arrays: { a: array, "inner/a": array }, consolidated: true });

describe.each(["v2", "v3"] as const)("deleting nodes of %s", (zarrFormat) => {
  test("an array, opened by its URL; others and what lists them stay", async () => {
    const root = folder.next("d.zarr");
    await filled(root, zarrFormat);
    await deleteNode(await open(`${root}/inner/a`));
    const left = everythingIn(root);
    expect(left.filter((name) => name.startsWith("inner/"))).toEqual([
      "inner/",
      `inner/${zarrFormat === "v2" ? ".zgroup" : "zarr.json"}`,
    ]);
    const store = new DirectoryStore(root);
    const paths =
      zarrFormat === "v2"
        ? Object.keys((await jsonAt(store, ".zmetadata")).metadata)
        : Object.keys((await jsonAt(store, "zarr.json")).consolidated_metadata.metadata).sort();
    expect(paths).toEqual(zarrFormat === "v2" ? [".zgroup", "a/.zarray", "inner/.zgroup"] : ["a", "inner"]);
  });

  test("a group: all documents go before any other key, its own first", async () => {
    const memory = new MemoryStore();
    await filled({ store: memory, path: "g" }, zarrFormat);
    await memory.set("g/notes.txt", new Uint8Array(1));
    const deleted: string[] = [];
    const store = withRequestLog(memory, ({ operation, key }) => {
      if (operation === "delete" && !deleted.includes(key)) deleted.push(key);
    });
    await deleteNode(await open({ store, path: "g" }));
    expect(await keysOf(memory)).toEqual([zarrFormat === "v2" ? ".zgroup" : "zarr.json"]);
    const isDocument = (key: string) => /(?:\.z[a-z]+|zarr\.json|meta|attrs)$/.test(key);
    const firstOther = deleted.findIndex((key) => !isDocument(key));
    expect(deleted.slice(firstOther).filter(isDocument)).toEqual([]);
    const own = zarrFormat === "v2" ? "g/.zgroup" : "g/zarr.json";
    const below = zarrFormat === "v2" ? "g/a/.zarray" : "g/a/zarr.json";
    expect(deleted.indexOf(own)).toBeGreaterThanOrEqual(0);
    expect(deleted.indexOf(own)).toBeLessThan(deleted.indexOf(below));
  });

  test("the root: every key", async () => {
    const root = folder.next("d.zarr");
    await filled(root, zarrFormat);
    writeFileSync(`${root}/notes.txt`, "");
    await deleteNode(await open(root));
    expect(everythingIn(root)).toEqual([]);
  });

  test("in a store that cannot list: an array by its grid, a group not at all", async () => {
    const store = new TestStore();
    await filled(store, zarrFormat);
    await deleteNode(await open({ store, path: "inner/a" }));
    expect([...store.values.keys()].filter((key) => key.startsWith("inner/a"))).toEqual([]);
    expect([...store.values.keys()].filter((key) => key.startsWith("a/")).length).toBe(3);
    expect(await rejection(deleteNode(await open({ store, path: "inner" })))).toMatchObject({
      code: "unsupported-operation",
    });
    expect((await open({ store, path: "inner" })).kind).toBe("group");
  });

  test("a node in a zip is not deleted: zips cannot delete", async () => {
    const zip = folder.next("d.zip");
    await filled(zip, zarrFormat);
    expect(await rejection(deleteNode(await open(zip)))).toMatchObject({ code: "unsupported-operation" });
  });
});

test("a failure comes out with where it happened, and a signal stops it", async () => {
  const store = await given({ arrays: { a: { shape: [4], dataType: "uint8", chunks: [1], values: null } } });
  const node = await open({ store, path: "a" });
  const reason = new Error("enough");
  expect(await rejection(deleteNode(node, { signal: AbortSignal.abort(reason) }))).toMatchObject({
    code: "aborted",
    cause: reason,
  });
  expect(await keysOf(store)).toContain("a/zarr.json");
});
