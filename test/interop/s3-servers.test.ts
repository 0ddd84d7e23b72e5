import { createHash } from "node:crypto";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { copy, rechunk } from "../../src/index.ts";
import type { S3Store } from "../../src/stores/s3.ts";
import type { UploadedPart } from "../../src/stores/store.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { writableStoreChecks } from "../stores/writable-store-checks.ts";
import { all, keysOf } from "../support/consume.ts";
import { stubEnvironment } from "../support/s3-environment.ts";
import { type FaultProxy, proxyTo } from "./fault-proxy.ts";
import {
  type Bucket,
  bucketAt,
  canPass,
  environmentOf,
  FAULTS,
  LISTS_UPLOADS,
  servers,
} from "./s3-servers.ts";
import { hasShared, shared } from "./shared.ts";
import { filesOf } from "./trees.ts";

describe.each(servers.map((server) => [server.name, server] as const))("%s", (server, { openBucket }) => {
  let bucket: Bucket;
  beforeAll(async () => {
    bucket = await openBucket();
  });
  afterAll(() => bucket.close());

  const checks = writableStoreChecks(async () => bucket.store());
  for (const { name, run } of checks.filter(({ name }) => canPass(server, name))) test(name, () => run());

  test("a long value is uploaded in parts", async () => {
    const store = bucket.store();
    const writer = await store.openWriter("long");
    const hash = createHash("sha256");
    for (let i = 0; i < 5; i++) {
      const piece = Buffer.alloc(
        5_000_000,
        Uint8Array.from({ length: 251 }, (_, at) => at * 31 + i),
      );
      hash.update(piece);
      await writer.write(piece);
    }
    expect(await store.size("long")).toBeUndefined();
    await writer.commit();
    const read = createHash("sha256").update((await store.get("long")) ?? "");
    expect(read.digest("hex")).toBe(hash.digest("hex"));
    const range = { offset: 8_388_600, length: 20 };
    expect(await store.get("long", { range })).toHaveLength(20);
  });

  test("an upload that is given up leaves nothing", async () => {
    const store = bucket.store();
    const writer = await store.openWriter("long");
    await writer.write(new Uint8Array(2e7));
    await writer.abort();
    expect(await store.get("long")).toBeUndefined();
    expect(await keysOf(store)).toEqual([]);
  });

  test("an upload that is left is gone on with where its parts are those that were recorded", async () => {
    const store = bucket.store();
    const bytes = new Uint8Array(20 * 2 ** 20).map((_, i) => (i * i) >> 7);
    const parts: UploadedPart[] = [];
    let id = "";
    const first = await store.openUpload("left", {
      onBegun: (begun) => {
        id = begun;
      },
      onPart: (part) => parts.push(part),
    });
    await first.write(bytes.subarray(0, 18 * 2 ** 20));
    await first.leave();
    expect(parts.map(({ number }) => number).sort()).toEqual([1, 2]);
    expect(await store.size("left")).toBeUndefined();
    const changed = parts.map((part) => (part.number === 2 ? { ...part, tag: '"other"' } : part));
    expect((await store.openUpload("left", { begun: { id, parts: changed } })).kept).toHaveLength(1);
    const second = await store.openUpload("left", { begun: { id, parts } });
    expect(second.kept).toEqual(parts);
    await second.write(bytes.subarray(16 * 2 ** 20));
    await second.commit();
    expect(Buffer.compare((await store.get("left")) ?? new Uint8Array(), bytes)).toBe(0);
    expect((await store.openUpload("left", { begun: { id, parts } })).kept).toEqual([]);
  });

  test("more keys than a page holds are listed in order, also a level of them", async () => {
    const store = bucket.store();
    const keys = Array.from({ length: 1200 }, (_, i) => `c/${i}`).sort();
    await Promise.all(keys.map((key) => store.set(key, new Uint8Array(1))));
    expect(await keysOf(store)).toEqual(keys);
    const level: string[] = [];
    for await (const entry of store.listDirectory("c/")) level.push("key" in entry ? entry.key : "a prefix");
    expect(level).toEqual(keys);
  });

  test("more keys than one request may name are deleted together", async () => {
    const store = bucket.store();
    const keys = Array.from({ length: 1100 }, (_, i) => `c/${i} & <ü>+%25`);
    await Promise.all([...keys, "kept"].map((key) => store.set(key, new Uint8Array(1))));
    await store.deleteMany([...keys, "never there"]);
    expect(await keysOf(store)).toEqual(["kept"]);
  });

  test("of many who set a key if it is absent, one does", async () => {
    const store = bucket.store();
    const values = Array.from({ length: 16 }, (_, i) => Uint8Array.of(i));
    const isSet = await Promise.all(values.map((value) => store.setIfAbsent("lock", value)));
    expect(isSet.filter(Boolean)).toHaveLength(1);
    expect(await store.get("lock")).toEqual(values[isSet.indexOf(true)]);
    expect(await store.setIfAbsent("lock", Uint8Array.of(99))).toBe(false);
  });

  test.runIf(canPass(server, LISTS_UPLOADS))(LISTS_UPLOADS, async () => {
    const store = bucket.store();
    const writers = await Promise.all(["a/1", "b/2"].map((key) => store.openWriter(key)));
    for (const writer of writers) await writer.write(new Uint8Array(1e7));
    const begun = async (prefix: string) => (await all(store.listUploads(prefix))).map(({ key }) => key);
    expect(await begun("")).toEqual(["a/1", "b/2"]);
    expect(await begun("b/")).toEqual(["b/2"]);
    await writers[0]?.abort();
    await writers[1]?.commit();
    expect(await begun("")).toEqual([]);
    expect(await store.size("b/2")).toBe(1e7);
  });

  test("keys of any characters are signed as the server does", async () => {
    const store = bucket.store({ prefix: "ü!*'()" });
    const key = "a b+c/é&=?#%25~/日本";
    await store.set(key, Uint8Array.of(1, 2, 3));
    expect(await store.get(key)).toEqual(Uint8Array.of(1, 2, 3));
    expect(await keysOf(store)).toEqual([key]);
  });

  const calls: Readonly<Record<string, (store: S3Store) => Promise<unknown>>> = {
    get: (store) => store.get("a"),
    size: (store) => store.size("a"),
    set: (store) => store.set("a", new Uint8Array(1)),
    delete: (store) => store.delete("a"),
    list: (store) => keysOf(store),
  };
  const wrongs = Object.entries({
    "another secret": { secretAccessKey: "wrongsecret1" },
    "a key that nobody has": { accessKeyId: "wrongkey1" },
  });
  const wrongCalls = wrongs.flatMap(([wrong, changed]) =>
    Object.entries(calls).map(([call, run]) => ({ name: `${call} with ${wrong}`, changed, run })),
  );
  test("only checks are left out", () => {
    const names = [...checks, { name: LISTS_UPLOADS }, ...wrongCalls].map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...(FAULTS[server] ?? [])]));
  });

  test.each(wrongCalls.filter(({ name }) => canPass(server, name)))(
    "$name is access-denied, and shows nothing of it",
    async ({ changed, run }) => {
      const store = bucket.store({ credentials: { ...bucket.credentials, ...changed } });
      const error = await run(store).then(
        () => undefined,
        (failure) => failure,
      );
      expect(error).toMatchObject({ code: "access-denied" });
      const shown = JSON.stringify([error.message, error.details, store.description]);
      for (const secret of Object.values(changed)) expect(shown).not.toContain(secret);
    },
  );

  test.each(Object.entries(calls))("%s without the bucket is not-found", async (_, run) => {
    const store = bucket.store({ bucket: "no-such-bucket" });
    await expect(run(store)).rejects.toMatchObject({
      code: "not-found",
      reason: "the bucket does not exist",
    });
  });
});

const folder = temporaryFolder();
let tests = 0;
const data = `${shared}data/basin-mask.zarr`;

describe.runIf(hasShared).each(servers)("copies to and in $name", ({ openBucket }) => {
  let bucket: Bucket;
  let proxy: FaultProxy;
  let source: string;
  let remote: string;

  beforeAll(async () => {
    bucket = await openBucket();
  });
  beforeEach(async () => {
    source = join(folder.path, `source-${tests}.zarr`);
    remote = `s3://${bucket.name}/target-${tests++}.zarr`;
    cpSync(data, source, { recursive: true });
    proxy = await proxyTo(bucket.endpoint);
    stubEnvironment(environmentOf(bucketAt(proxy.endpoint, bucket)));
    await copy(source, remote);
    return () => proxy.close();
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await bucket.close();
  });

  /** The keys below the array `basin` of requests from now on, each with its method. */
  function chunkRequests(): () => string[] {
    const before = proxy.requests.length;
    return () =>
      proxy.requests
        .slice(before)
        .filter(({ url }) => /basin\/\d/.test(url))
        .map(({ method, url }) => `${method} ${url.slice(url.indexOf("basin/"))}`)
        .sort();
  }
  const filesAt = async (url: string) => {
    const back = join(folder.path, `back-${tests++}`);
    await copy(url, back);
    return filesOf(back);
  };

  test("an update of what is right writes nothing", async () => {
    const before = proxy.requests.length;
    await copy(source, remote, { ifExists: "update" });
    const methods = new Set(proxy.requests.slice(before).map(({ method }) => method));
    for (const method of ["PUT", "POST", "DELETE"]) expect(methods).not.toContain(method);
  });

  test("an update writes the chunks alone that differ, also those of the same size", async () => {
    const changed = join(source, "basin", "1.0.1");
    const bytes = readFileSync(changed);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    writeFileSync(changed, bytes);
    rmSync(join(source, "basin", "0.0.0"));
    const requests = chunkRequests();
    await copy(source, remote, { ifExists: "update" });
    const writes = requests().filter((request) => !/^(?:GET|HEAD) /.test(request));
    expect(writes.filter((request) => request.startsWith("PUT"))).toEqual(["PUT basin/1.0.1"]);
    expect(await filesAt(remote)).toEqual(filesOf(source));
  });

  test("what is replaced leaves no chunks behind", async () => {
    await rechunk(source, remote, { chunks: { Z: 33, Y: 180, X: 360 }, ifExists: "replace" });
    const chunks = Object.keys(await filesAt(remote)).filter((name) => /^basin\/\d/.test(name));
    expect(chunks).toEqual(["basin/0.0.0"]);
  });

  test("within one server values are copied there, and read by nobody", async () => {
    const requests = chunkRequests();
    await copy(remote, remote.replace("target", "other"));
    expect(requests().filter((request) => request.startsWith("GET"))).toEqual([]);
    expect(await filesAt(remote.replace("target", "other"))).toEqual(filesOf(source));
  });
});
