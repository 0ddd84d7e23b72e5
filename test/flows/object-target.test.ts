// @module-tag slow
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileSystemStore } from "@zarrita/storage";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { planFlow } from "../../src/flows/request/flow.ts";
import { runFlow } from "../../src/flows/run/run-flow.ts";
import {
  convert,
  copy,
  createGroup,
  type FlowEvent,
  type FlowTarget,
  open,
  rechunk,
  sliceTo,
  validate,
} from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { S3Store } from "../../src/stores/s3.ts";
import type { Store } from "../../src/stores/store.ts";
import { fromZarrita, type ZarritaStore } from "../../src/stores/with/zarrita.ts";
import { ACCESS_KEY, BUCKET, type S3Server, SECRET_KEY, serveBucket } from "../stores/s3-server.ts";
import { contentsOf, digestOf } from "../support/consume.ts";
import { makeHierarchy } from "../support/made-hierarchy.ts";

let folder: string;
let server: S3Server;
let source: MemoryStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "zarrflow-object-"));
  server = await serveBucket();
  source = await makeHierarchy("v3", { consolidated: true });
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const s3Store = (prefix = "x.zarr") =>
  new S3Store({
    bucket: BUCKET,
    prefix,
    endpoint: server.endpoint,
    credentials: { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY },
  });

/** Stores that have every capability, and how they are looked at. */
const stores: readonly (readonly [string, () => FlowTarget & (Store | ZarritaStore)])[] = [
  ["a MemoryStore", () => new MemoryStore()],
  ["a DirectoryStore", () => new DirectoryStore(join(folder, "out.zarr"))],
  ["an S3Store", () => s3Store()],
  ["a Map", () => new Map<string, Uint8Array>()],
];
const asOurs = (store: Store | ZarritaStore) => ("description" in store ? store : fromZarrita(store));

describe.each(stores)("%s of the caller's as the target", (_, newStore) => {
  it("gets every key, byte for byte, and is opened as it is", async () => {
    const target = newStore();
    const report = await copy(source, target, { verify: true });
    expect(await contentsOf(asOurs(target))).toEqual(await contentsOf(source));
    expect(report.keysVerified).toBe(report.keysWritten);
    expect((await open(target)).kind).toBe("group");
    for await (const { level } of validate(asOurs(target))) expect(level).toBe("info"); // keys that are no Zarr
  });

  it("is left as it is where something is there, replaced, added to, or updated", async () => {
    const target = newStore();
    await copy(await makeHierarchy("v3", { offset: 7 }), target, { exclude: ["2024"] });
    const before = await contentsOf(asOurs(target));
    await expect(copy(source, target)).rejects.toMatchObject({ code: "target-exists" });
    expect(await contentsOf(asOurs(target))).toEqual(before);

    await copy(source, target, { ifExists: "skip" });
    const added = await contentsOf(asOurs(target));
    expect(added).toMatchObject(before);
    expect(Object.keys(added)).toContain("2024/t2m/zarr.json");

    await copy(source, target, { ifExists: "update" });
    expect(await contentsOf(asOurs(target))).toEqual(await contentsOf(source));

    await copy(await makeHierarchy("v2"), target, { ifExists: "replace" });
    expect(await contentsOf(asOurs(target))).toEqual(await contentsOf(await makeHierarchy("v2")));
  });

  it("takes what rechunk, convert and sliceTo make", async () => {
    const [rechunked, converted, part] = [newStore(), new Map<string, Uint8Array>(), new MemoryStore()];
    await rechunk({ store: source, path: "2024/t2m" }, rechunked, { chunks: [4, 2] });
    await convert(rechunked, converted, { to: "v2" });
    await sliceTo(converted, part, { slice: [[0, 2], 0] });
    const array = await open(part);
    expect(array).toMatchObject({ kind: "array", shape: [2, 1] });
    expect(await digestOf(rechunked)).toEqual(await digestOf({ store: source, path: "2024/t2m" }));
    expect(await digestOf(converted)).toEqual(await digestOf(rechunked));
  });

  it("gets a node at a path, with the groups above it, beside what is there", async () => {
    const target = newStore();
    const root = await createGroup(target, { zarrFormat: "v3", attributes: { title: "mine" } });
    await root.close();
    const inside = (path: string) => ({ store: target, path }) as FlowTarget;
    await copy({ store: source, path: "2024" }, inside("models/era5"));
    await copy({ store: source, path: "2023/t2m" }, inside("t2m"));
    expect(Object.keys(await contentsOf(asOurs(target)))).toEqual(
      expect.arrayContaining(["models/era5/t2m/zarr.json", "models/zarr.json", "t2m/zarr.json", "zarr.json"]),
    );
    expect((await open(target)).attributes).toEqual({ title: "mine" });
    await expect(copy({ store: source, path: "2023" }, inside("t2m"))).rejects.toMatchObject({
      code: "target-exists",
    });
    await expect(copy({ store: source, path: "2023" }, inside("t2m/below"))).rejects.toMatchObject({
      code: "path-not-allowed",
    });
  });

  it("shows nothing of a copy that failed", async () => {
    const target = newStore();
    const failing: Store = {
      description: "failing",
      get: (key, options) => {
        if (key.endsWith("c/1/1")) throw new Error("the disk is gone");
        return source.get(key, options);
      },
      size: (key, options) => source.size(key, options),
      list: source.list.bind(source),
      listDirectory: source.listDirectory.bind(source),
    } as Store;
    await expect(copy(failing, target)).rejects.toThrow("the disk is gone");
    expect(await contentsOf(asOurs(target))).toEqual({});
  });
});

describe("a store of the caller's that is the target", () => {
  it("is what threads hand their chunks to", async () => {
    const from = join(folder, "from.zarr");
    await copy(source, from);
    const target = new MemoryStore();
    await rechunk(`${from}/2024/t2m`, target, { chunks: [4, 2], threads: 2 });
    const other = new MemoryStore();
    await rechunk(`${from}/2024/t2m`, other, { chunks: [4, 2], threads: 1 });
    expect(await contentsOf(target)).toEqual(await contentsOf(other));
  });

  it("is not closed", async () => {
    let closed = 0;
    const target = Object.assign(new MemoryStore(), { close: async () => void closed++ });
    await copy(source, target, { verify: true });
    await copy(source, target, { ifExists: "skip" });
    await copy(source, target, { ifExists: "update" });
    expect(closed).toBe(0);
  });

  it("is never emptied to be filled from itself", async () => {
    const before = await contentsOf(source);
    const disk = new DirectoryStore(join(folder, "x.zarr"));
    await copy(source, disk);
    const pairs: [Parameters<typeof copy>[0], FlowTarget][] = [
      [source, source],
      [source, { store: source, path: "2024" }],
      [
        { store: source, path: "2024/t2m" },
        { store: source, path: "2024" },
      ],
      [join(folder, "x.zarr/2024"), disk],
      [disk, join(folder, "x.zarr")],
      [disk, new DirectoryStore(folder)],
    ];
    for (const [from, to] of pairs) {
      await expect(copy(from, to, { ifExists: "replace" })).rejects.toMatchObject({
        code: "target-inside-source",
      });
    }
    expect(await contentsOf(source)).toEqual(before);
    await copy({ store: source, path: "2024" }, { store: source, path: "again" });
    expect((await contentsOf(source))["again/t2m/zarr.json"]).toBe(before["2024/t2m/zarr.json"]);
  });

  it("stays in this process: the plan only names it", async () => {
    const planned = await planFlow(source, new MemoryStore("mine"));
    const { target } = JSON.parse(JSON.stringify(planned.plan));
    expect(target).toEqual({ store: { kind: "object", description: "mine" }, path: "" });
    const elsewhere = { ...planned, plan: { ...planned.plan, target } };
    await expect(runFlow(elsewhere, {})).rejects.toMatchObject({ code: "invalid-option" });
  });

  it("must be one that is written", async () => {
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
  const newStore = () => new FileSystemStore(join(folder, "zarrita.zarr"));

  it("gets every key, and is refused where documents are", async () => {
    const target = newStore();
    const report = await copy(source, target, { verify: true });
    expect(report.keysVerified).toBe(report.keysWritten);
    expect(await contentsOf(new DirectoryStore(join(folder, "zarrita.zarr")))).toEqual(
      await contentsOf(source),
    );
    await expect(copy(source, target)).rejects.toMatchObject({
      code: "target-exists",
      details: { key: "zarr.json" },
    });
  });

  it("cannot be replaced or updated", async () => {
    const target = newStore();
    await copy(source, target);
    for (const ifExists of ["replace", "update"] as const) {
      await expect(copy(source, target, { ifExists })).rejects.toMatchObject({
        code: "unsupported-operation",
      });
    }
  });

  it("is warned of, as chunks that lie there already would be taken for the array's", async () => {
    const events: FlowEvent[] = [];
    await copy(source, newStore(), { onEvent: (event) => events.push(event) });
    expect(events.filter(({ type }) => type === "warning")).toMatchObject([
      { message: expect.stringContaining("cannot list its keys") },
    ]);
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
