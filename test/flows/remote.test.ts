// @module-tag slow
import { readFileSync } from "node:fs";
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
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { serveValues } from "../stores/value-server.ts";
import { bytesOf, digestsOf, valuesIn } from "../support/consume.ts";
import { given, givenKeys } from "../support/given.ts";
import { makeArray, naiveSlice, type Recipe } from "../support/made-array.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";

const folder = temporaryFolder();
const recipe: Recipe = { shape: [7, 9], chunks: [2, 4], order: "C", itemSize: 4, missing: 0.2, seed: 5 };
const jsonBytes = (value: unknown) => Buffer.from(JSON.stringify(value));

/** Documents that describe nodes in hierarchies whose nodes lie elsewhere. */
const METADATA = { "t2m/.zarray": ZARRAY, ".zgroup": ZGROUP };
const ABOVE: readonly [string, Buffer][] = [
  ["x.zarr/.zmetadata", jsonBytes({ metadata: METADATA, zarr_consolidated_format: 1 })],
  ...Object.entries(DRAFT_DOCUMENTS).map(([key, value]): [string, Buffer] => [`d/${key}`, jsonBytes(value)]),
];

describe("S3", () => {
  const source = "memory:remote-source";
  const at = (path: string) => `s3://${BUCKET}/${path}`;
  let server: S3Server;
  beforeEach(async () => {
    server = await serveReachableBucket();
    const { store } = await makeArray(recipe, "t2m");
    const others = { ".zgroup": { zarr_format: 2 }, "t2m/.zattrs": { units: "K" }, "notes.txt": "not Zarr" };
    nameMemoryStore("remote-source", await givenKeys(others, store));
  });
  afterEach(async () => {
    nameMemoryStore("remote-source", undefined);
    await server.close();
  });

  /** Answers 403 to requests, for as long as the server runs. */
  function refuse(isMeant: (...of: Parameters<S3Fault>) => boolean): void {
    server.fault = (response, request) => {
      const isRefused = isMeant(response, request);
      if (isRefused) response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
      return isRefused;
    };
  }

  test("a store goes there and back, every key of it, its documents last", async () => {
    await copy(source, at("data/x.zarr"), { verify: true });
    expect([...server.objects.keys()]).toContain("data/x.zarr/notes.txt");
    const written = server.requests.filter(({ method }) => method === "PUT").map(({ key }) => key);
    const last = ["t2m/.zattrs", "t2m/.zarray", ".zgroup"].map((key) => `data/x.zarr/${key}`);
    expect(written.slice(-3)).toEqual(last);
    expect(await digestsOf(at("data/x.zarr"))).toEqual(await digestsOf(source));
    const back = folder.next("back.zarr");
    await copy(at("data/x.zarr"), back);
    expect(await digestsOf(back)).toEqual(await digestsOf(source));
    await rechunk(at("data/x.zarr/t2m"), at("y.zarr"), { chunks: [7, 1], codec: "zstd:1" });
    expect(await digestsOf(at("y.zarr"))).toEqual(await digestsOf(`${source}/t2m`));
  });

  test("a zip in it is read by ranges", async () => {
    const zip = folder.next("x.zarr.zip");
    await copy(source, zip);
    server.objects.set("zips/x.zarr.zip", readFileSync(zip));
    expect(await digestsOf(at("zips/x.zarr.zip"))).toEqual(await digestsOf(source));
    const wholeReads = server.requests.filter(({ method, headers }) => method === "GET" && !headers.range);
    expect(wholeReads).toEqual([]);
  });

  test("a target that exists is refused, or replaced", async () => {
    server.objects.set("x.zarr/old/0.0", Buffer.from("stale"));
    await expect(copy(source, at("x.zarr"))).rejects.toMatchObject({ code: "target-exists" });
    server.objects.set("x.zarr/.zgroup", Buffer.from('{"zarr_format": 2}'));
    await copy(source, at("x.zarr"), { ifExists: "replace" });
    expect([...server.objects.keys()]).not.toContain("x.zarr/old/0.0");
    expect(await digestsOf(at("x.zarr"))).toEqual(await digestsOf(source));
  });

  test("a copy that fails leaves nothing behind", async () => {
    let puts = 0;
    refuse((_, { method }) => method === "PUT" && ++puts >= 5);
    const details = { store: at("x.zarr"), key: expect.any(String) };
    await expect(copy(source, at("x.zarr"))).rejects.toMatchObject({ code: "access-denied", details });
    expect([...server.objects.keys()]).toEqual([]);
  });

  test.each(["v2", "v3"] as const)(
    "nodes of %s are edited by URLs of their own, and what lists them stays true",
    async (zarrFormat) => {
      const root = at("data/x.zarr");
      const array = { shape: [4], dataType: "int16", chunks: [2] } as const;
      const group = await createGroup(root, { zarrFormat }, { consolidated: true });
      await (await group.create("old", array)).close();
      await group.close();
      const store = (await open(root)).store as ListableStore;
      for (const edit of [
        () => given({ at: `${root}/g/t2m`, ...array, values: [1, 2, 3, 4] }),
        () => setAttributes(`${root}/g/t2m`, { units: "K" }),
        () => resizeArray(`${root}/g/t2m`, [2], { outside: "delete" }),
        () => copy(`${root}/g/t2m`, `${root}/copied`),
        () => deleteNode(`${root}/old`),
      ]) {
        await edit();
        await expectTrueConsolidation(store);
      }
      expect((await open(`${root}/g`)).kind).toBe("group");
      expect((await open(`${root}/g/t2m`)).attributes).toMatchObject({ units: "K" });
      expect(await digestsOf(`${root}/copied`)).toEqual(await digestsOf(`${root}/g/t2m`));
      await expect(create(`${root}/copied/below`, array)).rejects.toMatchObject({ code: "path-not-allowed" });
      const unsupported = { code: "unsupported-operation", details: { store: root, path: "copied" } };
      await expect(renameNode(`${root}/copied`, "b")).rejects.toMatchObject(unsupported);
    },
  );

  test("a node that documents above alone describe is found", async () => {
    for (const [key, value] of ABOVE) server.objects.set(key, value);
    expect(await open(at("x.zarr/t2m"))).toMatchObject({ kind: "array", path: "t2m", shape: [4, 6] });
    expect(await open(at("d/foo/baz"))).toMatchObject({ kind: "group", path: "foo/baz" });
    expect(await setAttributes(at("d/foo/baz"), { a: 1 })).toMatchObject({ attributes: { a: 1 } });
    expect([...server.objects.keys()]).toContain("d/meta/root/foo/baz.group");
  });

  test("what may not be read above a node ends the search for its hierarchy", async () => {
    await copy(source, at("own/x"));
    refuse((_, { key }) => !key.startsWith("own/x"));
    expect((await setAttributes(at("own/x/t2m"), { units: "m" })).attributes).toMatchObject({ units: "m" });
  });

  test("without credentials nothing is asked", async () => {
    delete process.env.AWS_ACCESS_KEY_ID;
    await expect(open(at("x.zarr"))).rejects.toMatchObject({ code: "access-denied" });
    expect(server.requests).toEqual([]);
  });
});

test("a web server gives nodes that what lies above alone describes, is read, and takes no change", async () => {
  const { store, bytes } = await makeArray(recipe);
  const server = await serveValues(new Map([...(await valuesIn(store, "a.zarr")), ...ABOVE]));
  const at = (path: string) => `${server.url}/${path}`;
  nameMemoryStore("remote-copy", undefined);
  try {
    expect(await open(at("x.zarr/t2m"))).toMatchObject({ path: "t2m", shape: [4, 6] });
    expect(await open(at("d/foo/baz/qux"))).toMatchObject({ kind: "array", path: "foo/baz/qux" });
    for (const change of [
      () => setAttributes(at("d/top"), { a: 1 }),
      () => renameNode(at("d/top"), "b"),
      () => deleteNode(at("d/top")),
      () => resizeArray(at("d/top"), [1, 1]),
    ])
      await expect(change()).rejects.toMatchObject({
        code: "unsupported-operation",
        details: { store: at("d") },
      });
    const found = await bytesOf(slice(at("a.zarr"), "1:6,2:8").bytes());
    const ranges = { start: [1, 2], step: [1, 1], shape: [5, 6] };
    expect(new Uint8Array(found)).toEqual(naiveSlice({ bytes }, recipe, ranges));
    await copy(at("a.zarr"), "memory:remote-copy", { chunks: [7, 9] });
    expect(await digestsOf("memory:remote-copy")).toEqual(await digestsOf(at("a.zarr")));
    const written = copy(at("a.zarr"), at("y.zarr"));
    await expect(written).rejects.toMatchObject({ code: "unsupported-operation" });
    await expect(open(at("none.zarr"))).rejects.toMatchObject({ code: "not-found" });
  } finally {
    nameMemoryStore("remote-copy", undefined);
    await server.close();
  }
});
