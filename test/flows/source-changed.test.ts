// @module-tag slow
import fs from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { convert, copy, diff, digest, open, rechunk, slice, sliceTo } from "../../src/index.ts";
import * as pieces from "../../src/plan/memory.ts";
import type { FlowEvent } from "../../src/run/events.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { FileReader } from "../../src/stores/files/file-reader.ts";
import { HttpStore } from "../../src/stores/http.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { S3Store } from "../../src/stores/s3.ts";
import type { GetSyncOptions, Store } from "../../src/stores/store.ts";
import { withCache } from "../../src/stores/with/cache.ts";
import { withMergedRanges } from "../../src/stores/with/merged-ranges.ts";
import { openZipFile, openZipValue } from "../../src/stores/zip.ts";
import { pause } from "../../src/util/pause.ts";
import { ACCESS_KEY, BUCKET, SECRET_KEY, serveBucket } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { serveValues } from "../stores/value-server.ts";
import { drain, valuesIn } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { FATES, makeArray, N } from "./changed-sources.ts";

const folder = temporaryFolder();
const CHANGED = { code: "source-changed", exitCode: 1 };

async function nodeIn(store: Store) {
  const node = await open(store);
  if (node.kind !== "array") throw new Error("no array");
  return node;
}

const consistent = async (store: Store) => slice(await nodeIn(store), {}, { consistent: true });
const SLICES: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  "a slice as values": async (store) => (await consistent(store)).read(),
  "a stream of chunks": async (store) => drain((await consistent(store)).chunks()),
  "a stream of bytes": async (store) => drain((await consistent(store)).bytes()),
};

/** A store to which something happens when so many of its values have been read. */
function afterReads(store: MemoryStore | DirectoryStore, reads: number, act: () => unknown): Store {
  let left = reads;
  return {
    description: store.description,
    async get(key, options) {
      if (left-- === 0) await act();
      return store.get(key, options);
    },
    size: (key, options) => store.size(key, options),
  };
}

/** Does something at the first event of one of these types. */
function once(types: readonly FlowEvent["type"][], act: () => void) {
  let isDone = false;
  return ({ type }: FlowEvent) => {
    if (isDone || !types.includes(type)) return;
    isDone = true;
    act();
  };
}

describe.each(Object.entries(FATES))("a folder that %s while it is read", (_, change) => {
  let root: string;
  let target: string;

  beforeEach(async () => {
    root = folder.next();
    target = join(dirname(root), "target.zarr");
    await makeArray(root, 1);
    await makeArray(`${root}-next`, 2);
  });

  it.each<[string, (store: Store) => Promise<unknown>]>([
    ...Object.entries(SLICES),
    ["a digest", (store) => drain(digest(store))],
    [
      "a diff",
      async (store) => {
        const other = new MemoryStore();
        await makeArray(other, 1);
        await drain(diff(other, store));
      },
    ],
  ])("ends %s, with the error", async (_name, read) => {
    const directory = new DirectoryStore(root);
    // when documents have been read, and half of the chunks
    const store = afterReads(directory, 10 + N / 2, () => change(root));
    await expect(read({ ...store, version: () => directory.version() })).rejects.toMatchObject(CHANGED);
  });

  it.each([
    ["copy", copy, {}],
    ["copy --verify", copy, { verify: true }],
    ["copy to another codec", copy, { codec: "gzip" }],
    ["rechunk", rechunk, { chunks: [8] }],
    ["convert", convert, { to: "v2" }],
    ["sliceTo", sliceTo, { slice: [[0, 30]] }],
  ] as const)("ends %s, and nothing appears", async (_name, flow, how) => {
    const act = vi.fn(() => change(root));
    const onEvent = once(["task-end", "progress"], act);
    await expect(flow(root, target, { ...how, onEvent } as never)).rejects.toMatchObject(CHANGED);
    expect(act).toHaveBeenCalledOnce();
    expect(fs.readdirSync(dirname(target)).filter((name) => !name.startsWith("store"))).toEqual([]);
  });
});

it("is no other source when nothing was changed but beside it, or in its chunks' folders", async () => {
  const root = folder.next();
  await makeArray(root, 1);
  const onEvent = () => {
    for (const path of [join(root, "notes.txt"), `${root}-beside`]) fs.writeFileSync(path, "");
  };
  await copy(root, folder.next("target.zarr").replace("/target", "-target"), { onEvent });
});

it("takes removed chunks for removed where documents are gone with them, in memory too", async () => {
  const memory = new MemoryStore();
  await makeArray(memory, 1);
  const vanishing = afterReads(memory, 10 + N / 2, async () => {
    for await (const { key } of memory.list("")) await memory.delete(key);
  });
  await expect((await consistent(vanishing)).read()).rejects.toMatchObject(CHANGED);
});

async function bucketWith(values: ReadonlyMap<string, Uint8Array>) {
  const server = await serveBucket();
  for (const [key, value] of values) server.objects.set(key, Buffer.from(value));
  const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
  return { store: new S3Store({ bucket: BUCKET, endpoint: server.endpoint, credentials }), server };
}

describe("a shard that is replaced between its index and its chunks", () => {
  const SHARD = { chunks: [8], shards: [N] };
  const KEY = "c/0";

  async function valuesOf(value: number): Promise<Map<string, Uint8Array>> {
    const memory = new MemoryStore();
    await makeArray(memory, value, SHARD);
    return valuesIn(memory);
  }

  /** The error of reading a store, in which `replace` is called after the index was read. */
  async function expectNoticed(store: Store, replace: () => unknown): Promise<void> {
    const get: Store["get"] = async (key, options) => {
      const bytes = await store.get(key, options);
      if (options?.range && "suffix" in options.range) replace();
      return bytes;
    };
    const size: Store["size"] = (key, options) => store.size(key, options);
    const replaced = await consistent({ description: "replaced", get, size });
    await expect(replaced.read()).rejects.toMatchObject({ ...CHANGED, details: { key: KEY } });
  }

  it("is noticed in folders", async () => {
    const root = folder.next();
    await makeArray(root, 1, SHARD);
    await makeArray(`${root}-next`, 2, SHARD);
    const replace = () => fs.renameSync(join(`${root}-next`, KEY), join(root, KEY));
    await expectNoticed(new DirectoryStore(root), replace);
  });

  type Case = [string, Parameters<typeof serveValues>[1], ((store: Store) => Store)?];
  it.each<Case>([
    ["by entity tags", { validators: "strong" }],
    ["by entity tags and no conditions", { validators: "strong", ignoresConditions: true }],
    ["by weak entity tags", { validators: "weak" }],
    ["by dates", { validators: "dates" }],
    ["through a cache", { validators: "strong" }, withCache],
    ["through merged ranges", { validators: "strong" }, withMergedRanges],
  ])("is noticed over HTTP %s", async (_, manners, wrap = (store) => store) => {
    const [values, others] = [await valuesOf(1), await valuesOf(2)];
    const server = await serveValues(values, manners);
    const replace = () => values.set(KEY, others.get(KEY) ?? Buffer.alloc(0));
    await expectNoticed(wrap(new HttpStore(server.url)), replace);
    const areConditions = server.requests.some(({ headers }) => headers["if-match"] !== undefined);
    expect(areConditions).toBe(manners?.validators === "strong");
    await server.close();
  });

  it("is noticed in buckets, and where it is removed", async () => {
    const [values, others] = [await valuesOf(1), await valuesOf(2)];
    const { store, server } = await bucketWith(values);
    await expectNoticed(store, () => server.objects.set(KEY, Buffer.from(others.get(KEY) ?? [])));
    await server.close();
    const web = await serveValues(values, { validators: "strong" });
    await expectNoticed(new HttpStore(web.url), () => values.delete(KEY));
    await web.close();
  });
});

describe("a zip that is replaced between its directory and its entries", () => {
  let a: string;
  let b: string;
  beforeEach(async () => {
    const root = folder.next();
    [a, b] = [`${root}-a.zip`, `${root}-b.zip`];
    await makeArray(a, 1);
    await makeArray(b, 2);
  });

  it("is noticed in buckets and over HTTP", async () => {
    const values = new Map([["a.zip", fs.readFileSync(a)]]);
    const { store, server } = await bucketWith(values);
    const zip = await openZipValue(store, "a.zip");
    server.objects.set("a.zip", fs.readFileSync(b));
    await expect(zip.get("c/1")).rejects.toMatchObject(CHANGED);
    await server.close();

    const web = await serveValues(values, { validators: "dates" });
    const remote = await openZipValue(new HttpStore(web.url), "a.zip");
    values.set("a.zip", fs.readFileSync(b));
    await expect(remote.get("c/1")).rejects.toMatchObject(CHANGED);
    await web.close();
  });

  it("is read whole from the file that was opened, when another file takes its name", async () => {
    const [first, second] = [await FileReader.open(a), await FileReader.open(b)];
    expect(await first.version()).not.toBe(await second.version());
    await first.close();
    await second.close();
    const zip = await openZipFile(a);
    fs.renameSync(b, a);
    expect([...(await slice(await nodeIn(zip)).read()).data]).toEqual(Array(N).fill(1));
    await zip.close();
  });

  it("is noticed when its file is written over", async () => {
    const zip = await openZipFile(a);
    const part = await consistent(zip);
    fs.copyFileSync(b, a);
    await expect(part.read()).rejects.toMatchObject(CHANGED);
    await zip.close();
  });
});

it("is noticed when a large value is replaced while it is copied in pieces, and ends the copy", async () => {
  const piece = 64 * 1024;
  const size = 2.5 * piece;
  const spy = vi.spyOn(pieces, "pieceBytesWithin").mockReturnValue(piece);
  const whole = await given({ shape: [size], dataType: "uint8", codec: "none", values: () => 1 });
  const { store, server } = await bucketWith(await valuesIn(whole));
  server.fault = (_, { method, headers }) => {
    if (method === "GET" && headers.range?.startsWith(`bytes=${piece}-`))
      server.objects.set("c/0", Buffer.alloc(size, 2));
    return false;
  };
  const target = `${folder.next()}.zip`;
  fs.mkdirSync(dirname(target), { recursive: true });
  await expect(copy(store, target)).rejects.toMatchObject(CHANGED);
  expect(fs.readdirSync(dirname(target))).toEqual([]);
  spy.mockRestore();
  await server.close();
});

describe.each([
  ["in one folder", { chunks: [1, 8], zarrFormat: "v2" }, (row: number) => `${row}.0`],
  ["in folders of their own", { chunks: [1, 1] }, (row: number) => `c/${row}/3`],
] as const)("chunks %s that are removed one by one while documents stay", (_, made, keyIn) => {
  let root: string;
  let target: string;

  beforeEach(async () => {
    root = folder.next();
    target = join(dirname(root), "target.zarr");
    const rows = { shape: [16, 8], dataType: "uint8", codec: "none", fillValue: 0, values: () => 1 };
    await given({ at: root, ...made, ...rows });
  });

  /** Removes a chunk of the last rows, later than the run began by any clock. */
  function removeOne(): void {
    const until = Date.now() + 20;
    while (Date.now() < until);
    fs.rmSync(join(root, keyIn(15)));
  }

  it.each(Object.entries(SLICES))("end %s", async (_name, read) => {
    const directory = new DirectoryStore(root);
    const version = () => directory.version();
    const watchMissing = () => directory.watchMissing();
    const store = { ...afterReads(directory, 12, removeOne), version, watchMissing };
    await expect(read(store)).rejects.toMatchObject(CHANGED);
  });

  it.each([
    ["a copy of keys", copy, {}],
    ["a copy to another codec", copy, { codec: "gzip" }],
    ["rechunk", rechunk, { chunks: [2, 8] }],
    ["rechunk by several threads", rechunk, { chunks: [2, 8], threads: 2 }],
    ["sliceTo", sliceTo, { slice: [[0, 16]] }],
  ] as const)("end %s, and nothing appears", async (_name, flow, how) => {
    const onEvent = once(["plan"], removeOne);
    await expect(flow(root, target, { ...how, onEvent } as never)).rejects.toMatchObject(CHANGED);
    expect(fs.existsSync(target)).toBe(false);
  });

  it("end an update", async () => {
    await copy(root, target);
    const onEvent = once(["plan"], removeOne);
    await expect(copy(root, target, { ifExists: "update", onEvent })).rejects.toMatchObject(CHANGED);
  });

  it("are no change when they were missing before", async () => {
    for (let i = 0; i < 20; i++) {
      fs.rmSync(join(root, keyIn(i % 16)), { force: true });
      await (await consistent(new DirectoryStore(root))).read();
      await drain(digest(root));
    }
    await copy(root, `${target}-copy`);
    await rechunk(root, `${target}-rechunked`, { chunks: [2, 8] });
  });

  it("are no change between two readings by one store, or where no chunk was missing", async () => {
    let number = 0;
    for await (const _ of slice(root, {}, { consistent: true }).chunks())
      fs.writeFileSync(join(root, `notes-${number++}`), "");
    const array = await nodeIn(new DirectoryStore(root));
    removeOne();
    await slice(array, {}, { consistent: true }).read();
    fs.rmSync(join(root, keyIn(3)));
    await slice(array, {}, { consistent: true }).read();
  });
});

it("is noticed when a chunk is removed while calls that block read others", async () => {
  const root = folder.next();
  const shape = [64, 65536];
  await given({ at: root, shape, chunks: [1, 65536], dataType: "uint8", codec: "none", values: () => 1 });
  const reader = slice(root, {}, { maxMemory: 500e3, consistent: true }).bytes().getReader();
  await reader.read();
  await pause(20);
  fs.rmSync(join(root, "c/63/0"));
  const rest = async () => {
    while (!(await reader.read()).done);
  };
  await expect(rest()).rejects.toMatchObject(CHANGED);
});

it("is noticed when a chunk is removed before the stored ones are listed", async () => {
  const root = folder.next();
  const values = (i: number) => (i < 4900 ? 0 : 1);
  await given({ at: root, shape: [50, 100], chunks: [1, 1], dataType: "uint8", fillValue: 0, values });
  let left = 500;
  const vanishing = new Proxy(new DirectoryStore(root), {
    get: (of, name) => {
      if (name === "getSync")
        return (key: string, options?: GetSyncOptions) => {
          if (left-- === 0) {
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
            fs.rmSync(join(root, "c/49/99"));
          }
          return of.getSync?.(key, options);
        };
      const value: unknown = Reflect.get(of, name, of);
      return typeof value === "function" ? value.bind(of) : value;
    },
  });
  await expect(drain(digest(vanishing))).rejects.toMatchObject(CHANGED);
  expect(left).toBeLessThan(0);
});

it("is no change of the source when a run writes beside an array whose chunks are all missing", async () => {
  const sparse = { shape: [64, 64], chunks: [8, 8], dataType: "uint8", fillValue: 7, values: null };
  const root = await given({ at: folder.next(), arrays: { sparse } });
  const path = `${root}/sparse`;
  await rechunk(path, `${root}/other`, { chunks: [16, 4], writeEmptyChunks: true });
  await copy(path, `${root}/update`, {});
  await copy(path, `${root}/update`, { ifExists: "update" });
});
