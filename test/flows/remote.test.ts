// @module-tag slow
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  copy,
  create,
  createGroup,
  deleteNode,
  open,
  rechunk,
  renameNode,
  resizeArray,
  setAttributes,
  slice,
} from "../../src/index.ts";
import { nameMemoryStore } from "../../src/stores/memory.ts";
import type { ListableStore } from "../../src/stores/store.ts";
import { DRAFT_DOCUMENTS } from "../hierarchy/draft-stores.ts";
import { expectTrueConsolidation } from "../hierarchy/fresh-consolidation.ts";
import { ZARRAY, ZGROUP } from "../hierarchy/stores.ts";
import { BUCKET, type S3Fault, type S3Server } from "../stores/s3-server.ts";
import { serveValues } from "../stores/value-server.ts";
import { bytesOf, digestsOf } from "../support/consume.ts";
import { given, givenKeys } from "../support/given.ts";
import { makeArray, naiveSlice, type Recipe } from "../support/made-array.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";

const recipe: Recipe = { shape: [7, 9], chunks: [2, 4], order: "C", itemSize: 4, missing: 0.2, seed: 5 };
const rangesOf2d = { start: [1, 2], step: [1, 1], shape: [5, 6] };

/** A group with one array in memory, as `memory:remote-source`. */
async function makeSource(): Promise<string> {
  const { store } = await makeArray(recipe, "t2m");
  const others = { ".zgroup": { zarr_format: 2 }, "t2m/.zattrs": { units: "K" }, "notes.txt": "not Zarr" };
  await givenKeys(others, store);
  nameMemoryStore("remote-source", store);
  return "memory:remote-source";
}

describe("S3", () => {
  let server: S3Server;
  let source: string;
  let folder: string;
  beforeEach(async () => {
    server = await serveReachableBucket();
    source = await makeSource();
    folder = mkdtempSync(join(tmpdir(), "zarrflow-s3-"));
  });
  afterEach(async () => {
    nameMemoryStore("remote-source", undefined);
    rmSync(folder, { recursive: true });
    await server.close();
  });

  test("a store goes there and back, every key of it", async () => {
    await copy(source, `s3://${BUCKET}/data/x.zarr`, { verify: true });
    expect([...server.objects.keys()]).toContain("data/x.zarr/notes.txt");
    expect(await digestsOf(`s3://${BUCKET}/data/x.zarr`)).toEqual(await digestsOf(source));
    await copy(`s3://${BUCKET}/data/x.zarr`, join(folder, "back.zarr"));
    expect(await digestsOf(join(folder, "back.zarr"))).toEqual(await digestsOf(source));
  });

  test("documents are written last", async () => {
    await copy(source, `s3://${BUCKET}/x.zarr`);
    const written = server.requests.filter(({ method }) => method === "PUT").map(({ key }) => key);
    expect(written.at(-1)).toBe("x.zarr/.zgroup");
    expect(written.slice(-3)).toEqual(["x.zarr/t2m/.zattrs", "x.zarr/t2m/.zarray", "x.zarr/.zgroup"]);
  });

  test("an array is rechunked from one place in it to another", async () => {
    await copy(source, `s3://${BUCKET}/x.zarr`);
    await rechunk(`s3://${BUCKET}/x.zarr/t2m`, `s3://${BUCKET}/y.zarr`, { chunks: [7, 1], codec: "zstd:1" });
    expect(await digestsOf(`s3://${BUCKET}/y.zarr`)).toEqual(await digestsOf(`${source}/t2m`));
  });

  test("a zip in it is read by ranges", async () => {
    const zip = join(folder, "x.zarr.zip");
    await copy(source, zip);
    const { readFileSync } = await import("node:fs");
    server.objects.set("zips/x.zarr.zip", readFileSync(zip));
    expect(await digestsOf(`s3://${BUCKET}/zips/x.zarr.zip`)).toEqual(await digestsOf(source));
    const wholeReads = server.requests.filter(({ method, headers }) => method === "GET" && !headers.range);
    expect(wholeReads).toEqual([]);
  });

  test("a target that exists is refused, or replaced", async () => {
    server.objects.set("x.zarr/old/0.0", Buffer.from("stale"));
    const target = `s3://${BUCKET}/x.zarr`;
    await expect(copy(source, target)).rejects.toMatchObject({ code: "target-exists" });
    server.objects.set("x.zarr/.zgroup", Buffer.from('{"zarr_format": 2}'));
    await copy(source, target, { ifExists: "replace" });
    expect([...server.objects.keys()]).not.toContain("x.zarr/old/0.0");
    expect(await digestsOf(target)).toEqual(await digestsOf(source));
  });

  test("a copy that fails leaves nothing behind", async () => {
    let puts = 0;
    const fail = () =>
      server.faults.push((response, { method }) => {
        fail();
        if (method !== "PUT" || ++puts < 5) return false;
        response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
        return true;
      });
    fail();
    await expect(copy(source, `s3://${BUCKET}/x.zarr`)).rejects.toMatchObject({
      code: "access-denied",
      details: { store: `s3://${BUCKET}/x.zarr`, key: expect.any(String) },
    });
    expect([...server.objects.keys()]).toEqual([]);
  });

  test("attributes are changed in place", async () => {
    await copy(source, `s3://${BUCKET}/x.zarr`);
    await setAttributes(await open(`s3://${BUCKET}/x.zarr/t2m`), { units: "°C" });
    expect((await open(`s3://${BUCKET}/x.zarr/t2m`)).attributes).toMatchObject({ units: "°C" });
  });

  test("nodes are edited through their own URLs, and what lists them above stays true", async () => {
    const root = `s3://${BUCKET}/data/x.zarr`;
    for (const zarrFormat of ["v2", "v3"] as const) {
      const array = { shape: [4], dataType: "int16", chunks: [2] } as const;
      const group = await createGroup(root, { zarrFormat }, { consolidated: true, ifExists: "replace" });
      await (await group.create("old", array)).close();
      await group.close();
      const store = (await open(root)).store as ListableStore;
      await given({ at: `${root}/g/t2m`, ...array, values: [1, 2, 3, 4] });
      await expectTrueConsolidation(store);
      expect((await open(`${root}/g`)).kind).toBe("group");
      await setAttributes(`${root}/g/t2m`, { units: "K" });
      await expectTrueConsolidation(store);
      await resizeArray(`${root}/g/t2m`, [2], { outside: "delete" });
      await expectTrueConsolidation(store);
      await copy(`${root}/g/t2m`, `${root}/copied`);
      await expectTrueConsolidation(store);
      await deleteNode(`${root}/old`);
      await expectTrueConsolidation(store);
      expect(await digestsOf(`${root}/copied`)).toEqual(await digestsOf(`${root}/g/t2m`));
      await expect(create(`${root}/copied/below`, array)).rejects.toMatchObject({ code: "path-not-allowed" });
      await expect(renameNode(`${root}/copied`, "b")).rejects.toMatchObject({
        code: "unsupported-operation",
        details: { store: root, path: "copied" },
      });
    }
  });

  test("a node that consolidated metadata above alone describe is found", async () => {
    const metadata = { "t2m/.zarray": ZARRAY, ".zgroup": ZGROUP };
    const document = JSON.stringify({ metadata, zarr_consolidated_format: 1 });
    server.objects.set("x.zarr/.zmetadata", Buffer.from(document));
    expect(await open(`s3://${BUCKET}/x.zarr/t2m`)).toMatchObject({
      kind: "array",
      path: "t2m",
      shape: [4, 6],
    });
    for (const [key, value] of Object.entries(DRAFT_DOCUMENTS)) {
      server.objects.set(`d/${key}`, Buffer.from(JSON.stringify(value)));
    }
    expect(await open(`s3://${BUCKET}/d/foo/baz`)).toMatchObject({ kind: "group", path: "foo/baz" });
    expect(await setAttributes(`s3://${BUCKET}/d/foo/baz`, { a: 1 })).toMatchObject({ attributes: { a: 1 } });
    expect([...server.objects.keys()]).toContain("d/meta/root/foo/baz.group");
  });

  test("what may not be read above a node ends the search for its hierarchy", async () => {
    await copy(source, `s3://${BUCKET}/own/x`);
    const refuse: S3Fault = (response, { key }) => {
      server.faults.push(refuse);
      if (key.startsWith("own/x")) return false;
      response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
      return true;
    };
    server.faults.push(refuse);
    const node = await setAttributes(`s3://${BUCKET}/own/x/t2m`, { units: "m" });
    expect(node.attributes).toMatchObject({ units: "m" });
  });

  test("without credentials nothing is asked", async () => {
    delete process.env.AWS_ACCESS_KEY_ID;
    await expect(open(`s3://${BUCKET}/x.zarr`)).rejects.toMatchObject({ code: "access-denied" });
    expect(server.requests).toEqual([]);
  });
});

describe("a web server", () => {
  test("gives nodes that what lies above alone describes, and takes no change", async () => {
    const metadata = { "t2m/.zarray": ZARRAY, ".zgroup": ZGROUP };
    const values = new Map([
      ["x.zarr/.zmetadata", Buffer.from(JSON.stringify({ metadata, zarr_consolidated_format: 1 }))],
      ...Object.entries(DRAFT_DOCUMENTS).map(
        ([key, value]) => [`d/${key}`, Buffer.from(JSON.stringify(value))] as const,
      ),
    ]);
    const server = await serveValues(values);
    try {
      expect(await open(`${server.url}/x.zarr/t2m`)).toMatchObject({ path: "t2m", shape: [4, 6] });
      expect(await open(`${server.url}/d/foo/baz/qux`)).toMatchObject({ kind: "array", path: "foo/baz/qux" });
      for (const change of [
        () => setAttributes(`${server.url}/d/top`, { a: 1 }),
        () => renameNode(`${server.url}/d/top`, "b"),
        () => deleteNode(`${server.url}/d/top`),
        () => resizeArray(`${server.url}/d/top`, [1, 1]),
      ]) {
        await expect(change()).rejects.toMatchObject({
          code: "unsupported-operation",
          details: { store: `${server.url}/d` },
        });
      }
    } finally {
      await server.close();
    }
  });

  test("is read, and nothing else", async () => {
    const { store, bytes } = await makeArray(recipe);
    const values = new Map<string, Uint8Array>();
    for await (const { key } of store.list("")) {
      values.set(`x.zarr/${key}`, (await store.get(key)) ?? new Uint8Array());
    }
    const server = await serveValues(values);
    try {
      const url = `${server.url}/x.zarr`;
      const found = await bytesOf(slice(url, "1:6,2:8").bytes());
      expect(new Uint8Array(found)).toEqual(naiveSlice({ bytes }, recipe, rangesOf2d));
      nameMemoryStore("remote-copy", undefined);
      await copy(url, "memory:remote-copy", { chunks: [7, 9] });
      expect(await digestsOf("memory:remote-copy")).toEqual(await digestsOf(url));
      await expect(copy(url, `${server.url}/y.zarr`)).rejects.toMatchObject({
        code: "unsupported-operation",
      });
      await expect(open(`${server.url}/none.zarr`)).rejects.toMatchObject({ code: "not-found" });
    } finally {
      nameMemoryStore("remote-copy", undefined);
      await server.close();
    }
  });
});
