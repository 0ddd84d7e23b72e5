// @module-tag slow
import { join } from "node:path";
import { FileSystemStore } from "@zarrita/storage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { planFlow } from "../../src/flows/request/flow.ts";
import { runFlow } from "../../src/flows/run-flow.ts";
import { convert, copy, type FlowTarget, open, rechunk, sliceTo, validate } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { S3Store } from "../../src/stores/s3.ts";
import type { Store } from "../../src/stores/store.ts";
import { fromZarrita, type ZarritaStore } from "../../src/stores/with/zarrita.ts";
import { ACCESS_KEY, BUCKET, type S3Server, SECRET_KEY, serveBucket } from "../stores/s3-server.ts";
import { testFolder } from "../support/cli.ts";
import { all, contentsOf, digestOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { heard } from "../support/heard.ts";
import { makeHierarchy } from "../support/made-hierarchy.ts";

let folder: string;
let server: S3Server;
let source: MemoryStore;
beforeEach(async () => {
  folder = await testFolder();
  server = await serveBucket();
  source = await makeHierarchy("v3", { consolidated: true });
});
afterEach(() => server.close());

type Target = FlowTarget & (Store | ZarritaStore);

/** Stores that have every capability. */
const stores: readonly (readonly [string, () => Target])[] = [
  ["a MemoryStore", () => new MemoryStore()],
  ["a DirectoryStore", () => new DirectoryStore(join(folder, "out.zarr"))],
  [
    "an S3Store",
    () => {
      const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
      return new S3Store({ bucket: BUCKET, prefix: "x.zarr", endpoint: server.endpoint, credentials });
    },
  ],
  ["a Map", () => new Map<string, Uint8Array>()],
];
const asOurs = (store: Store | ZarritaStore) => ("description" in store ? store : fromZarrita(store));
const contents = (store: Store | ZarritaStore) => contentsOf(asOurs(store));

describe.each(stores)("%s of the caller's as the target", (_, newStore) => {
  it("gets every key, byte for byte, and is opened as it is", async () => {
    const target = newStore();
    const report = await copy(source, target, { verify: true });
    expect(await contents(target)).toEqual(await contentsOf(source));
    expect(report.keysVerified).toBe(report.keysWritten);
    expect((await open(target)).kind).toBe("group");
    // keys that are no Zarr
    for (const { level } of await all(validate(asOurs(target)))) expect(level).toBe("info");
  });

  it("is left as it is where something is there, added to, updated, or replaced", async () => {
    const target = newStore();
    await copy(await makeHierarchy("v3", { offset: 7 }), target, { exclude: ["2024"] });
    const before = await contents(target);
    await expect(copy(source, target)).rejects.toMatchObject({ code: "target-exists" });
    expect(await contents(target)).toEqual(before);

    await copy(source, target, { ifExists: "skip" });
    const added = await contents(target);
    expect(added).toMatchObject(before);
    expect(Object.keys(added)).toContain("2024/t2m/zarr.json");

    await copy(source, target, { ifExists: "update" });
    expect(await contents(target)).toEqual(await contentsOf(source));

    const other = await makeHierarchy("v2");
    await copy(other, target, { ifExists: "replace" });
    expect(await contents(target)).toEqual(await contentsOf(other));
  });

  it("takes what rechunk, convert and sliceTo make", async () => {
    const [rechunked, converted, part] = [newStore(), new Map<string, Uint8Array>(), new MemoryStore()];
    const array = { store: source, path: "2024/t2m" };
    await rechunk(array, rechunked, { chunks: [4, 2] });
    await convert(rechunked, converted, { to: "v2" });
    await sliceTo(converted, part, { slice: [[0, 2], 0] });
    expect(await open(part)).toMatchObject({ kind: "array", shape: [2, 1] });
    for (const made of [rechunked, converted]) expect(await digestOf(made)).toBe(await digestOf(array));
  });

  it("gets a node at a path, with the groups above it, beside what is there", async () => {
    const target = await given({ at: newStore(), attributes: { title: "mine" } } as never);
    const at = (path: string) => ({ store: target, path }) as FlowTarget;
    await copy({ store: source, path: "2024" }, at("models/era5"));
    await copy({ store: source, path: "2023/t2m" }, at("t2m"));
    const keys = ["models/era5/t2m/zarr.json", "models/zarr.json", "t2m/zarr.json", "zarr.json"];
    expect(Object.keys(await contents(target))).toEqual(expect.arrayContaining(keys));
    expect((await open(target)).attributes).toEqual({ title: "mine" });
    for (const [path, code] of [
      ["t2m", "target-exists"],
      ["t2m/below", "path-not-allowed"],
    ] as const)
      await expect(copy({ store: source, path: "2023" }, at(path))).rejects.toMatchObject({ code });
  });

  it("shows nothing of a copy that failed", async () => {
    const target = newStore();
    const get = source.get.bind(source);
    source.get = async (key, options) => {
      if (key.endsWith("c/1/1")) throw new Error("the disk is gone");
      return get(key, options);
    };
    await expect(copy(source, target)).rejects.toThrow("the disk is gone");
    expect(await contents(target)).toEqual({});
  });
});

describe("a store of the caller's that is the target", () => {
  it("is what threads hand their chunks to", async () => {
    const from = join(folder, "from.zarr");
    await copy(source, from);
    const [one, two] = [new MemoryStore(), new MemoryStore()];
    for (const [threads, target] of [one, two].entries())
      await rechunk(`${from}/2024/t2m`, target, { chunks: [4, 2], threads: threads + 1 });
    expect(await contentsOf(two)).toEqual(await contentsOf(one));
  });

  it("is not closed", async () => {
    let closed = 0;
    const target = Object.assign(new MemoryStore(), { close: async () => void closed++ });
    await copy(source, target, { verify: true });
    for (const ifExists of ["skip", "update"] as const) await copy(source, target, { ifExists });
    expect(closed).toBe(0);
  });

  it("is never emptied to be filled from itself", async () => {
    const before = await contentsOf(source);
    const path = join(folder, "x.zarr");
    const disk = new DirectoryStore(path);
    await copy(source, disk);
    const at = (path: string) => ({ store: source, path });
    for (const [from, to] of [
      [source, source],
      [source, at("2024")],
      [at("2024/t2m"), at("2024")],
      [`${path}/2024`, disk],
      [disk, path],
      [disk, new DirectoryStore(folder)],
    ] as const)
      await expect(copy(from, to, { ifExists: "replace" })).rejects.toMatchObject({
        code: "target-inside-source",
      });
    expect(await contentsOf(source)).toEqual(before);
    await copy(at("2024"), at("again"));
    expect((await contentsOf(source))["again/t2m/zarr.json"]).toBe(before["2024/t2m/zarr.json"]);
  });

  it("stays in this process: the plan only names it", async () => {
    const planned = await planFlow(source, new MemoryStore("mine"));
    const { target } = JSON.parse(JSON.stringify(planned.plan));
    expect(target).toEqual({ store: { kind: "object", description: "mine" }, path: "" });
    const elsewhere = runFlow({ ...planned, plan: { ...planned.plan, target } }, {});
    await expect(elsewhere).rejects.toMatchObject({ code: "invalid-option" });
    const readOnly = { get: async () => undefined } as ZarritaStore;
    await expect(copy(source, readOnly)).rejects.toMatchObject({ code: "unsupported-operation" });
  });

  it("is also one that its spec names", async () => {
    const path = join(folder, "out");
    await copy(source, { spec: { kind: "directory", path }, path: "x.zarr" });
    expect(await contentsOf(new DirectoryStore(join(path, "x.zarr")))).toEqual(await contentsOf(source));
    const zip = { kind: "zip", path: join(folder, "x.zip") } as const;
    await copy({ store: source, path: "2024" }, { spec: zip, path: "year" });
    expect((await open(`${zip.path}/year/t2m`)).kind).toBe("array");
  });
});

describe("a store that cannot list, such as zarrita's of files, as the target", () => {
  it("gets every key, with a warning, and is neither written over, replaced nor updated", async () => {
    const path = join(folder, "zarrita.zarr");
    const target = new FileSystemStore(path);
    // chunks that lie there already would be taken for the array's
    const { messages, onEvent } = heard();
    const report = await copy(source, target, { verify: true, onEvent });
    expect(messages).toEqual([expect.stringContaining("cannot list its keys")]);
    expect(report.keysVerified).toBe(report.keysWritten);
    expect(await contentsOf(new DirectoryStore(path))).toEqual(await contentsOf(source));
    const there = { code: "target-exists", details: { key: "zarr.json" } };
    await expect(copy(source, target)).rejects.toMatchObject(there);
    for (const ifExists of ["replace", "update"] as const) {
      const refused = copy(source, target, { ifExists });
      await expect(refused).rejects.toMatchObject({ code: "unsupported-operation" });
    }
  });

  it("gives back what was written where it can delete", async () => {
    const values = new Map<string, Uint8Array>();
    const target: ZarritaStore = {
      get: (key) => values.get(key),
      set: (key, value) => {
        if (key.endsWith("zarr.json")) throw new Error("full");
        values.set(key, value);
      },
      delete: (key) => values.delete(key),
    };
    await expect(copy(source, target)).rejects.toThrow("full");
    expect([...values.keys()]).toEqual([]);
  });
});
