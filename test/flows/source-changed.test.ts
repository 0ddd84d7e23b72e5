// @module-tag slow
import fs from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { FlowEvent } from "../../src/flows/events.ts";
import * as pieces from "../../src/flows/keys/read-pieces.ts";
import { convert, copy, diff, digest, open, rechunk, slice, sliceTo } from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { FileReader } from "../../src/stores/files/file-reader.ts";
import { HttpStore } from "../../src/stores/http.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { S3Store } from "../../src/stores/s3.ts";
import type { GetOptions, GetSyncOptions, Store } from "../../src/stores/store.ts";
import { withCache } from "../../src/stores/with/cache.ts";
import { withMergedRanges } from "../../src/stores/with/merged-ranges.ts";
import { openZipFile, openZipValue } from "../../src/stores/zip.ts";
import { pause } from "../../src/util/pause.ts";
import { ACCESS_KEY, BUCKET, SECRET_KEY, serveBucket } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { serveValues } from "../stores/value-server.ts";
import { drain } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { FATES, makeArray, N } from "./changed-sources.ts";

const folder = temporaryFolder();
const CHANGED = { code: "source-changed", exitCode: 1 };
describe.each(Object.entries(FATES))("a folder that %s while it is read", (_, change) => {
  let root: string;
  let target: string;

  beforeEach(async () => {
    root = folder.next();
    target = join(dirname(root), "target.zarr");
    await makeArray(root, 1);
    await makeArray(`${root}-next`, 2);
  });

  /** The source, which changes when so many values have been read. */
  function changing(reads: number): Store {
    const store = new DirectoryStore(root);
    let left = reads;
    const get = async (key: string, options?: GetOptions) => {
      if (left-- === 0) change(root);
      return store.get(key, options);
    };
    return {
      description: store.description,
      get,
      size: (key, options) => store.size(key, options),
      version: () => store.version(),
    };
  }

  /** Values that are read until documents have been, and half of the chunks. */
  const MIDWAY = 10 + N / 2;

  it("ends slices as values", async () => {
    await expect(
      slice(await nodeIn(changing(MIDWAY)), {}, { consistent: true }).read(),
    ).rejects.toMatchObject(CHANGED);
  });

  it("ends streams of chunks", async () => {
    await expect(
      drain(slice(await nodeIn(changing(MIDWAY)), {}, { consistent: true }).chunks()),
    ).rejects.toMatchObject(CHANGED);
  });

  it("ends streams of bytes", async () => {
    await expect(
      drain(slice(await nodeIn(changing(MIDWAY)), {}, { consistent: true }).bytes()),
    ).rejects.toMatchObject(CHANGED);
  });

  it("ends a digest, with the error", async () => {
    await expect(drain(digest(changing(MIDWAY)))).rejects.toMatchObject(CHANGED);
  });

  it("ends a diff, with the error", async () => {
    const other = new MemoryStore();
    await makeArray(other, 1);
    await expect(drain(diff(other, changing(MIDWAY)))).rejects.toMatchObject(CHANGED);
  });

  it.each([
    ["copy", copy, {}],
    ["copy --verify", copy, { verify: true }],
    ["copy to another codec", copy, { codec: "gzip" }],
    ["rechunk", rechunk, { chunks: [8] }],
    ["convert", convert, { to: "v2" }],
    ["sliceTo", sliceTo, { slice: [[0, 30]] }],
  ] as const)("ends %s, and nothing appears", async (_name, flow, how) => {
    let isDone = false;
    const onEvent = ({ type }: FlowEvent) => {
      if (isDone || (type !== "task-end" && type !== "progress")) return;
      isDone = true;
      change(root);
    };
    await expect(flow(root, target, { ...how, onEvent } as never)).rejects.toMatchObject(CHANGED);
    expect(isDone).toBe(true);
    expect(fs.readdirSync(dirname(target)).filter((name) => !name.startsWith("store"))).toEqual([]);
  });
});

it("is no other source when nothing was changed but beside it, or in its chunks' folders", async () => {
  const root = folder.next();
  await makeArray(root, 1);
  const onEvent = () => {
    fs.writeFileSync(join(root, "notes.txt"), "");
    fs.writeFileSync(`${root}-beside`, "");
  };
  await copy(root, folder.next("target.zarr").replace("/target", "-target"), { onEvent });
});

it("takes removed chunks for removed where documents are gone with them, in memory too", async () => {
  const memory = new MemoryStore();
  await makeArray(memory, 1);
  let left = 10 + N / 2;
  const store: Store = {
    description: "vanishing",
    size: (key) => memory.size(key),
    async get(key, options) {
      if (left-- === 0) for await (const one of memory.list("")) await memory.delete(one.key);
      return memory.get(key, options);
    },
  };
  await expect(slice(await nodeIn(store), {}, { consistent: true }).read()).rejects.toMatchObject(CHANGED);
});

async function nodeIn(store: Store) {
  const node = await open(store);
  if (node.kind !== "array") throw new Error("no array");
  return node;
}

describe("a shard that is replaced between its index and its chunks", () => {
  const SHARD = { chunks: [8], shards: [N] };
  const KEY = "c/0";

  async function versions(): Promise<Map<string, Buffer>[]> {
    return Promise.all(
      [1, 2].map(async (value) => {
        const memory = new MemoryStore();
        await makeArray(memory, value, SHARD);
        const values = new Map<string, Buffer>();
        for await (const { key } of memory.list(""))
          values.set(key, Buffer.from((await memory.get(key)) ?? []));
        return values;
      }),
    );
  }

  async function expectChanged(store: Store): Promise<void> {
    await expect(slice(await nodeIn(store), {}, { consistent: true }).read()).rejects.toMatchObject({
      ...CHANGED,
      details: { key: KEY },
    });
  }

  /** The store, in which `replace` is called after the index was read. */
  function replacing(store: Store, replace: () => void): Store {
    const get: Store["get"] = async (key, options) => {
      const bytes = await store.get(key, options);
      if (options?.range && "suffix" in options.range) replace();
      return bytes;
    };
    return { description: "replaced", get, size: (key, options) => store.size(key, options) };
  }

  it("is noticed in folders", async () => {
    const root = folder.next();
    await makeArray(root, 1, SHARD);
    await makeArray(`${root}-next`, 2, SHARD);
    const replace = () => fs.renameSync(join(`${root}-next`, KEY), join(root, KEY));
    await expectChanged(replacing(new DirectoryStore(root), replace));
  });

  it.each([
    ["entity tags", { validators: "strong" }],
    ["entity tags and no conditions", { validators: "strong", ignoresConditions: true }],
    ["weak entity tags", { validators: "weak" }],
    ["dates", { validators: "dates" }],
  ] as const)("is noticed over HTTP by %s", async (_, manners) => {
    const [values, others] = (await versions()) as [Map<string, Buffer>, Map<string, Buffer>];
    const server = await serveValues(values, manners);
    const replace = () => values.set(KEY, others.get(KEY) ?? Buffer.alloc(0));
    await expectChanged(replacing(new HttpStore(server.url), replace));
    const conditions = server.requests.filter(({ headers }) => headers["if-match"] !== undefined);
    expect(conditions.length > 0).toBe(manners.validators === "strong");
    await server.close();
  });

  it.each([
    ["a cache", (store: Store) => withCache(store)],
    ["merged ranges", (store: Store) => withMergedRanges(store)],
  ])("is noticed through %s", async (_, wrap) => {
    const [values, others] = (await versions()) as [Map<string, Buffer>, Map<string, Buffer>];
    const server = await serveValues(values, { validators: "strong" });
    const replace = () => values.set(KEY, others.get(KEY) ?? Buffer.alloc(0));
    await expectChanged(replacing(wrap(new HttpStore(server.url)), replace));
    await server.close();
  });

  it("is noticed in buckets", async () => {
    const [values, others] = (await versions()) as [Map<string, Buffer>, Map<string, Buffer>];
    const { store, server } = await bucketWith(values);
    await expectChanged(replacing(store, () => server.objects.set(KEY, others.get(KEY) ?? Buffer.alloc(0))));
    await server.close();
  });

  it("is noticed when it is removed", async () => {
    const [values] = (await versions()) as [Map<string, Buffer>];
    const server = await serveValues(values, { validators: "strong" });
    await expectChanged(replacing(new HttpStore(server.url), () => values.delete(KEY)));
    await server.close();
  });
});

async function bucketWith(values: ReadonlyMap<string, Buffer>) {
  const server = await serveBucket();
  for (const [key, value] of values) server.objects.set(key, value);
  const store = new S3Store({
    bucket: BUCKET,
    endpoint: server.endpoint,
    credentials: { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY },
  });
  return { store, server };
}

describe("a zip that is replaced between its directory and its entries", () => {
  async function zips(): Promise<[string, string]> {
    const root = folder.next();
    const paths: [string, string] = [`${root}-a.zip`, `${root}-b.zip`];
    for (const [i, path] of paths.entries()) await makeArray(path, i + 1);
    return paths;
  }

  it("is noticed in buckets and over HTTP", async () => {
    const [a, b] = await zips();
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
    const [a, b] = await zips();
    const zip = await openZipFile(a);
    fs.renameSync(b, a);
    expect([...(await slice(await nodeIn(zip)).read()).data]).toEqual(Array(N).fill(1));
    await zip.close();
  });

  it("is noticed when its file is written over", async () => {
    const [a, b] = await zips();
    const zip = await openZipFile(a);
    const node = await nodeIn(zip);
    fs.copyFileSync(b, a);
    await expect(slice(node, {}, { consistent: true }).read()).rejects.toMatchObject(CHANGED);
    await zip.close();
  });

  it("has another version than the one that takes its name", async () => {
    const [a, b] = await zips();
    const [first, second] = [await FileReader.open(a), await FileReader.open(b)];
    expect(await first.version()).not.toBe(await second.version());
    await first.close();
    await second.close();
  });
});

describe("a large value that is replaced while it is copied in pieces", () => {
  it("is noticed, and ends the copy", async () => {
    const piece = 64 * 1024;
    const size = 2.5 * piece;
    const spy = vi.spyOn(pieces, "pieceBytesWithin").mockReturnValue(piece);
    const root = folder.next();
    await given({ at: root, shape: [size], dataType: "uint8", codec: "none", values: () => 1 });
    const values = new Map<string, Buffer>();
    for (const key of ["zarr.json", "c/0"]) values.set(key, fs.readFileSync(join(root, key)));
    const { store, server } = await bucketWith(values);
    server.fault = (_, { method, headers }) => {
      if (method === "GET" && headers.range?.startsWith(`bytes=${piece}-`))
        server.objects.set("c/0", Buffer.alloc(size, 2));
      return false;
    };
    await expect(copy(store, `${root}.zip`)).rejects.toMatchObject(CHANGED);
    expect(fs.existsSync(`${root}.zip`)).toBe(false);
    spy.mockRestore();
    await server.close();
  });
});

describe.each([
  ["in one folder", { chunks: [1, 8], zarrFormat: "v2", shape: [16, 8] }],
  ["in folders of their own", { chunks: [1, 1], shape: [16, 8] }],
] as const)("chunks %s that are removed one by one while documents stay", (_, made) => {
  let root: string;
  let target: string;
  const [rows] = made.shape;

  beforeEach(async () => {
    root = folder.next();
    target = join(dirname(root), "target.zarr");
    await given({ at: root, ...made, dataType: "uint8", codec: "none", fillValue: 0, values: () => 1 });
  });

  /** Removes a chunk of the last rows, later than the run began by any clock. */
  function removeOne(): void {
    const until = Date.now() + 20;
    while (Date.now() < until);
    const last = "zarrFormat" in made ? `${rows - 1}.0` : `c/${rows - 1}/3`;
    fs.rmSync(join(root, last));
  }

  /** The source, of which a chunk is removed when so many values have been read. */
  function vanishing(reads: number): Store {
    const store = new DirectoryStore(root);
    let left = reads;
    return {
      description: store.description,
      get: async (key, options) => {
        if (left-- === 0) removeOne();
        return store.get(key, options);
      },
      size: (key, options) => store.size(key, options),
      version: () => store.version(),
      watchMissing: () => store.watchMissing(),
    };
  }

  const MIDWAY = 12;

  it("end slices as values", async () => {
    await expect(
      slice(await nodeIn(vanishing(MIDWAY)), {}, { consistent: true }).read(),
    ).rejects.toMatchObject(CHANGED);
  });

  it("end streams of chunks and of bytes", async () => {
    await expect(
      drain(slice(await nodeIn(vanishing(MIDWAY)), {}, { consistent: true }).chunks()),
    ).rejects.toMatchObject(CHANGED);
    fs.writeFileSync(join(root, "zarrFormat" in made ? "15.0" : "c/15/3"), new Uint8Array(8));
    await expect(
      drain(slice(await nodeIn(vanishing(MIDWAY)), {}, { consistent: true }).bytes()),
    ).rejects.toMatchObject(CHANGED);
  });

  it.each([
    ["copy to another codec", copy, { codec: "gzip" }],
    ["rechunk", rechunk, { chunks: [2, 8] }],
    ["rechunk by several threads", rechunk, { chunks: [2, 8], threads: 2 }],
    ["sliceTo", sliceTo, { slice: [[0, 16]] }],
  ] as const)("end %s, and nothing appears", async (_name, flow, how) => {
    let isDone = false;
    const onEvent = ({ type }: FlowEvent) => {
      if (isDone || type !== "plan") return;
      isDone = true;
      removeOne();
    };
    await expect(flow(root, target, { ...how, onEvent } as never)).rejects.toMatchObject(CHANGED);
    expect(fs.existsSync(target)).toBe(false);
  });

  it("end a copy of its keys, and nothing appears", async () => {
    let isDone = false;
    const onEvent = ({ type }: FlowEvent) => {
      if (isDone || type !== "plan") return;
      isDone = true;
      removeOne();
    };
    await expect(copy(root, target, { onEvent })).rejects.toMatchObject(CHANGED);
    expect(fs.existsSync(target)).toBe(false);
  });

  it("end an update", async () => {
    await copy(root, target);
    let isDone = false;
    const onEvent = ({ type }: FlowEvent) => {
      if (isDone || type !== "plan") return;
      isDone = true;
      removeOne();
    };
    await expect(copy(root, target, { ifExists: "update", onEvent })).rejects.toMatchObject(CHANGED);
  });

  it("are no change when they were missing before", async () => {
    for (let i = 0; i < 20; i++) {
      const last = "zarrFormat" in made ? `${i % rows}.0` : `c/${i % rows}/3`;
      fs.rmSync(join(root, last), { force: true });
      const array = await nodeIn(new DirectoryStore(root));
      await slice(array, {}, { consistent: true }).read();
      await drain(digest(root));
    }
    await copy(root, `${target}-copy`);
    await rechunk(root, `${target}-rechunked`, { chunks: [2, 8] });
  });

  it("are no change between two readings by one store", async () => {
    const array = await nodeIn(new DirectoryStore(root));
    removeOne();
    await slice(array, {}, { consistent: true }).read();
    fs.rmSync(join(root, "zarrFormat" in made ? "3.0" : "c/3/3"));
    await slice(array, {}, { consistent: true }).read();
  });

  it("are no change where no chunk was missing", async () => {
    const chunks = slice(root, {}, { consistent: true }).chunks();
    let number = 0;
    for await (const _ of chunks) fs.writeFileSync(join(root, `notes-${number++}`), "");
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
  const store = new DirectoryStore(root);
  let left = 500;
  const vanishing = new Proxy(store, {
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
  await rechunk(path, `${root}/other`, { chunks: [16, 4], writeEmpty: true });
  await copy(path, `${root}/update`, {});
  await copy(path, `${root}/update`, { ifExists: "update" });
});
