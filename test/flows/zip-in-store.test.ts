// @module-tag long
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { planFlow } from "../../src/flows/request/flow.ts";
import { copy, create, digest, type FlowEvent, open, rechunk } from "../../src/index.ts";
import { MemoryStore, namedMemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import { openZipFile } from "../../src/stores/zip.ts";
import { serveValues } from "../stores/value-server.ts";
import { buildZip } from "../stores/zip/build-zip.ts";
import { testFolder } from "../support/cli.ts";
import { all } from "../support/consume.ts";
import { givenKeys } from "../support/given.ts";
import { makeArray } from "../support/made-array.ts";
import { type S3Server, withBucket } from "../support/s3-environment.ts";

const encoder = new TextEncoder();
const NOISE = new Uint8Array(12_000_000).map((_, i) => (i * i) >> 11);

/** A directory with a group of two arrays, a value larger than a part, and keys that are no Zarr. */
async function makeTree(): Promise<string> {
  const root = join(await testFolder(), "source.zarr");
  const put = async (key: string, bytes: Uint8Array) => {
    await mkdir(dirname(join(root, key)), { recursive: true });
    await writeFile(join(root, key), bytes);
  };
  for (const [path, seed] of [
    ["t2m", 5],
    ["deep/er/tp", 6],
  ] as const) {
    const recipe = { shape: [37, 19], chunks: [5, 4], order: "C", itemSize: 4, missing: 0.2, seed } as const;
    const { store } = await makeArray(recipe, path);
    for await (const { key } of store.list("")) await put(key, (await store.get(key)) ?? new Uint8Array());
  }
  for (const group of ["", "deep/", "deep/er/"])
    await put(`${group}.zgroup`, encoder.encode('{"zarr_format": 2}'));
  await put("t2m/.zattrs", encoder.encode('{"units":  "K"}'));
  await put("notes/large.bin", NOISE);
  await put("notes/é ü.txt", encoder.encode("not Zarr"));
  await put("notes/empty", new Uint8Array());
  return root;
}

async function filesOf(root: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(path.slice(root.length + 1), await readFile(path));
  }
  return files;
}

async function expectSameFiles(a: string, b: string): Promise<void> {
  const [first, second] = [await filesOf(a), await filesOf(b)];
  expect([...second.keys()].sort()).toEqual([...first.keys()].sort());
  for (const [key, bytes] of first) expect(second.get(key)?.equals(bytes), key).toBe(true);
}

const digestOf = async (source: string) =>
  (await all(digest(source))).map(({ path, sha256 }) => `${path} ${sha256}`);

/** The most bytes that one request brought. */
function largestBody({ requests }: S3Server): number {
  return requests.reduce((most, { body }) => Math.max(most, body.length), 0);
}

describe("a zip in a store", () => {
  it(
    "goes the whole ring: directory, zip, zip in S3, zip in memory, directory, byte for byte",
    () =>
      withBucket(async (server, bucket) => {
        const source = await makeTree();
        const folder = await testFolder();
        const stops = [
          join(folder, "a.zarr.zip"),
          `s3://${bucket}/deep/b.zarr.zip`,
          "memory:zip-ring/c.zip|zip:",
          `s3://${bucket}/plain/d.zarr`,
          `s3://${bucket}/e.zarr.zip`,
          join(folder, "back.zarr"),
        ];
        let from = source;
        for (const to of stops) {
          await copy(from, to, { verify: true });
          from = to;
        }
        await expectSameFiles(source, join(folder, "back.zarr"));
        expect(await digestOf(`s3://${bucket}/e.zarr.zip`)).toEqual(await digestOf(source));
        expect(server.uploads.size).toBe(0);
        expect(largestBody(server)).toBeLessThanOrEqual(8 * 2 ** 20);
        nameMemoryStore("zip-ring", undefined);
      }),
    60_000,
  );

  it("is written with its documents first, and each key once", () =>
    withBucket(async (server, bucket) => {
      const source = await makeTree();
      await copy(source, `s3://${bucket}/x.zarr.zip`);
      const path = join(await testFolder(), "x.zip");
      await writeFile(path, server.objects.get("x.zarr.zip") ?? "");
      const names = namesInOrder(await readFile(path));
      expect(new Set(names).size).toBe(names.length);
      const documents = names.filter((name) => /\.z(array|group|attrs)$/.test(name));
      expect(names.slice(0, documents.length)).toEqual(documents);
      const zip = await openZipFile(path);
      expect(zip.findings).toEqual([]);
      await zip.close();
    }));

  it("is read below a path inside it, by nested URLs, and rechunked into another", () =>
    withBucket(async (_, bucket) => {
      const source = await makeTree();
      await copy(source, `s3://${bucket}/x.zip`);
      const array = await open(`s3://${bucket}/x.zip|zip:deep/er/tp`);
      expect(array).toMatchObject({ kind: "array", path: "deep/er/tp", shape: [37, 19] });
      await rechunk(`s3://${bucket}/x.zip/t2m`, `s3://${bucket}/y.zip|zip:t2m`, {
        chunks: [37, 1],
        codec: "zstd:1",
        to: "v3",
      });
      const [t2m] = (await digestOf(`${source}/t2m`)).map((line) => line.trim());
      expect((await digestOf(`s3://${bucket}/y.zip/t2m`)).map((line) => line.trim())).toEqual([t2m]);
      expect((await open(`s3://${bucket}/y.zip`)).kind).toBe("group");
    }));

  it("is made by `create`, too", () =>
    withBucket(async (server, bucket) => {
      const spec = { shape: [4], dataType: "int16", chunks: [2] } as const;
      const writer = await create(`s3://${bucket}/new.zip/g/t2m`, spec);
      await writer.write([], Int16Array.of(1, 2, 3, 4));
      expect([...server.objects.keys()]).toEqual([".new.zip.zarrflow-lock"]);
      await writer.close();
      expect([...server.objects.keys()]).toEqual(["new.zip"]);
      expect(await open(`s3://${bucket}/new.zip/g/t2m`)).toMatchObject({ shape: [4] });
      await expect(create(`s3://${bucket}/new.zip/g/t2m`, spec)).rejects.toMatchObject({
        code: "target-exists",
      });
    }));

  it("that is there is refused, left or replaced", () =>
    withBucket(async (server, bucket) => {
      const source = await makeTree();
      const target = `s3://${bucket}/x.zip`;
      server.objects.set("x.zip", Buffer.from("no zip"));
      await expect(copy(source, target)).rejects.toMatchObject({ code: "target-exists" });
      await expect(copy(source, target, { ifExists: "replace" })).rejects.toMatchObject({
        code: "target-not-empty",
      });
      server.objects.delete("x.zip");
      await copy(`${source}/t2m`, target);
      const before = server.objects.get("x.zip");
      const skipped = await copy(`${source}/t2m`, target, { ifExists: "skip" });
      expect(skipped).toMatchObject({ keysWritten: 0 });
      expect(server.objects.get("x.zip")).toBe(before);
      await copy(source, target, { ifExists: "replace" });
      expect(await digestOf(target)).toEqual(await digestOf(source));
    }));

  it("cannot be on a web server, and is read from there", async () => {
    const source = await makeTree();
    nameMemoryStore("zip-web", new MemoryStore());
    await copy(source, "memory:zip-web/x.zip|zip:");
    const zip = (await namedMemoryStore("zip-web")?.get("x.zip")) ?? new Uint8Array();
    const server = await serveValues(new Map([["x.zarr.zip", zip]]));
    try {
      await expect(copy(source, `${server.url}/y.zip`)).rejects.toMatchObject({
        code: "unsupported-operation",
      });
      const back = join(await testFolder(), "back.zarr");
      await copy(`${server.url}/x.zarr.zip`, back);
      await expectSameFiles(source, back);
      expect(await open(`${server.url}/x.zarr.zip/t2m`)).toMatchObject({ shape: [37, 19] });
    } finally {
      nameMemoryStore("zip-web", undefined);
      await server.close();
    }
  });
});

describe("a copy into a zip in S3 that fails", () => {
  it("leaves nothing: no object, no upload, and the one that was there", () =>
    withBucket(async (server, bucket) => {
      const source = await makeTree();
      await copy(`${source}/t2m`, `s3://${bucket}/x.zip`);
      const before = server.objects.get("x.zip");
      for (const fails of ["partNumber", "uploads"]) {
        const refuse: (typeof server.faults)[number] = (response, { query, method }) => {
          server.faults.push(refuse);
          if (method === "DELETE" || !query.has(fails)) return false;
          response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
          return true;
        };
        server.faults.push(refuse);
        const copied = copy(source, `s3://${bucket}/x.zip`, { ifExists: "replace" });
        await expect(copied).rejects.toMatchObject({ code: "access-denied" });
        server.faults.length = 0;
        expect(server.uploads.size).toBe(0);
        expect(server.objects.get("x.zip")).toBe(before);
      }
    }));

  it("is aborted by its signal, with the reason", () =>
    withBucket(async (server, bucket) => {
      const source = await makeTree();
      const controller = new AbortController();
      server.faults.push(() => {
        controller.abort("enough");
        return false;
      });
      const copied = copy(source, `s3://${bucket}/x.zip`, { signal: controller.signal });
      await expect(copied).rejects.toMatchObject({ code: "aborted", cause: "enough" });
      expect(server.uploads.size).toBe(0);
      expect(server.objects.size).toBe(0);
    }));

  it("as what is read back is wrong deletes it", () =>
    withBucket(async (server, bucket) => {
      const source = await makeTree();
      const spoil: (typeof server.faults)[number] = () => {
        server.faults.push(spoil);
        const zip = server.objects.get("x.zip");
        zip?.fill(7, 6_000_000, 6_000_010);
        return false;
      };
      server.faults.push(spoil);
      const copied = copy(source, `s3://${bucket}/x.zip`, { verify: true });
      await expect(copied).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:differs|corrupt-store)$/),
        details: { key: "notes/large.bin" },
      });
      expect(server.objects.size).toBe(0);
      expect(server.uploads.size).toBe(0);
    }));

  it("of a source that is changed under it is not published", () =>
    withBucket(async (server, bucket) => {
      const content = { ".zgroup": { zarr_format: 2 }, a: new Uint8Array([1]) };
      const store = await givenKeys(content, new MemoryStore("changing"));
      const get = store.get.bind(store);
      store.get = async (key, options) => (key === "a" ? undefined : get(key, options));
      await expect(copy({ store, path: "" }, `s3://${bucket}/x.zip`)).rejects.toMatchObject({
        code: "source-changed",
      });
      expect(server.objects.size).toBe(0);
    }));
});

it("a large entry of a zip that is damaged is not copied, wherever from and to", async () => {
  const folder = await testFolder();
  const zip = join(folder, "x.zip");
  await copy(await makeTree(), zip);
  const bytes = await readFile(zip);
  const at = bytes.indexOf(NOISE.subarray(5_000_000, 5_000_100));
  bytes.fill(1, at, at + 10);
  await writeFile(zip, bytes);
  nameMemoryStore("zip-damaged", new MemoryStore());
  await namedMemoryStore("zip-damaged")?.set("x.zip", bytes);
  for (const from of [zip, "memory:zip-damaged/x.zip|zip:"]) {
    for (const to of [join(folder, "y.zip"), join(folder, "y.zarr"), "memory:zip-damaged-copy"]) {
      await expect(copy(from, to)).rejects.toMatchObject({
        code: "corrupt-store",
        details: { key: "notes/large.bin" },
      });
      await expect(open(to)).rejects.toMatchObject({ code: "not-found" });
    }
  }
  nameMemoryStore("zip-damaged", undefined);
});

describe("the plan of a zip in S3", () => {
  it("counts the part that is held, and fits the budget with it", async () => {
    const source = await makeTree();
    const { plan, close } = await planFlow(source, "s3://bucket/x.zip");
    await close();
    expect(plan.totals.predictedPeak).toBeGreaterThan(8 * 2 ** 20);
    await expect(planFlow(source, "s3://bucket/x.zip", { maxMemory: "8MB" })).rejects.toMatchObject({
      code: "budget-too-small",
    });
  });
});

describe("warnings", () => {
  async function warningsOf(source: string, target: string): Promise<FlowEvent[]> {
    const warnings: FlowEvent[] = [];
    const onEvent = (event: FlowEvent) => event.type === "warning" && warnings.push(event);
    await copy(source, target, { onEvent });
    return warnings;
  }

  it("tell of names that occur twice in a source", async () => {
    const folder = await testFolder();
    const zarray = { zarr_format: 2, shape: [2], chunks: [1], dtype: "|u1", compressor: null, fill_value: 0 };
    const entries = [
      { name: ".zarray", value: encoder.encode(JSON.stringify({ ...zarray, order: "C", filters: null })) },
      { name: "0", value: new Uint8Array([1]) },
      { name: "0", value: new Uint8Array([2]) },
    ];
    await writeFile(join(folder, "x.zip"), buildZip(entries));
    expect(await warningsOf(join(folder, "x.zip"), join(folder, "y.zarr"))).toEqual([
      { type: "warning", key: "0", message: expect.stringContaining("the later one is used") },
    ]);
    expect(await readFile(join(folder, "y.zarr", "0"))).toEqual(Buffer.from([2]));
  });

  it("advise shards for a zip of more than 100,000 entries, not for a directory or fewer", async () => {
    const folder = await testFolder();
    for (const [chunks, target, count] of [
      [100_001, "a.zip", 1],
      [100_000, "b.zip", 0],
      [100_001, "c.zarr", 0],
    ] as const) {
      const document = { zarr_format: 2, shape: [chunks], chunks: [1], dtype: "|u1", compressor: null };
      const rest = { fill_value: 0, order: "C", filters: null };
      nameMemoryStore("many-chunks", await givenKeys({ ".zarray": { ...document, ...rest } }));
      const warnings = await warningsOf("memory:many-chunks", join(folder, target));
      expect(warnings).toHaveLength(count);
      if (count > 0) expect(warnings[0]).toMatchObject({ message: /100,001 entries/, hint: /--shards/ });
    }
    nameMemoryStore("many-chunks", undefined);
  });
});

/** Names of the local headers of an archive of stored entries, in their order. */
function namesInOrder(zip: Buffer): string[] {
  const names: [number, string][] = [];
  const directory = zip.readUInt32LE(zip.length - 6);
  for (let at = directory; zip.readUInt32LE(at) === 0x02014b50; ) {
    const length = zip.readUInt16LE(at + 28);
    names.push([zip.readUInt32LE(at + 42), zip.toString("utf8", at + 46, at + 46 + length)]);
    at += 46 + length + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return names.sort(([a], [b]) => a - b).map(([, name]) => name);
}
