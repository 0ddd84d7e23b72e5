// @module-tag slow
import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Retry } from "../../src/stores/remote/retry-requests.ts";
import { S3Store, type S3StoreOptions } from "../../src/stores/s3.ts";
import { all } from "../support/consume.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { settled, until } from "../support/until.ts";
import { ACCESS_KEY, BUCKET, refusal, type S3Fault, serveBucket, storeIn } from "./s3-server.ts";
import { allReject, keepsPromises } from "./support.ts";

const text = (value: string) => new TextEncoder().encode(value);
const pass: S3Fault = () => false;
const busy = refusal(503, "SlowDown");
const answering =
  (body: string): S3Fault =>
  (response) => {
    response.end(body);
    return true;
  };

describe("S3Store", () => {
  withoutPauses();
  afterEach(() => void vi.useRealTimers());

  const open = async (more: Partial<S3StoreOptions> = {}, options?: Parameters<typeof serveBucket>[0]) => {
    const server = await serveBucket(options);
    onTestFinished(() => server.close());
    const methods = () => server.requests.map(({ method }) => method);
    return { server, methods, store: storeIn(server, more) };
  };
  const openUpload = async (store: S3Store, bytes: number) => {
    const writer = await store.openWriter("long");
    await writer.write(new Uint8Array(bytes));
    return writer;
  };

  describe.each([
    ["at the root of a bucket", {}, {}],
    ["below a prefix, in pages of 2", { prefix: "a b/+x" }, { pageSize: 2 }],
  ])("%s", (_, more, options) => {
    keepsPromises({ lists: true, empty: async () => (await open(more, options)).store });
  });

  it("signs keys and prefixes with any characters, and headers of the caller with every request", async () => {
    const { store, server } = await open({ prefix: "ü!*'()", headers: { "x-own": "1" } });
    const key = "a b+c/é&=?#%25~/日本";
    await store.set(key, text("1"));
    expect([...server.objects.keys()]).toEqual([`ü!*'()/${key}`]);
    expect(await store.get(key)).toEqual(text("1"));
    expect(await all(store.list("a b+c/"))).toMatchObject([{ key, size: 1 }]);
    for (const { headers } of server.requests) expect(headers["x-own"]).toBe("1");
  });

  it("does not show objects that stand for folders", async () => {
    const { store, server } = await open({ prefix: "p" });
    for (const key of ["p/", "p/a/", "p/a/b", "q"]) server.objects.set(key, Buffer.from("x"));
    expect(await all(store.list(""))).toMatchObject([{ key: "a/b", size: 1 }]);
    expect(await all(store.listDirectory(""))).toEqual([{ prefix: "a/" }]);
  });

  it("writes small values in one request, and long ones in parts of which one is held", async () => {
    const { store, server, methods } = await open();
    const small = await store.openWriter("small");
    for (const piece of ["ab", "c"]) await small.write(text(piece));
    await small.commit();
    expect(methods()).toEqual(["PUT"]);
    expect(server.objects.get("small")?.toString()).toBe("abc");
    const long = await store.openWriter("long");
    const piece = randomBytes(3_000_000);
    for (let i = 0; i < 6; i++) await long.write(piece);
    expect(server.objects.has("long")).toBe(false);
    await long.commit();
    expect(server.objects.get("long")?.equals(Buffer.concat(Array(6).fill(piece)))).toBe(true);
    expect(server.requests.slice(1).map(({ method, query }) => `${method} ${[...query.keys()]}`)).toEqual([
      "POST uploads",
      ...Array(3).fill("PUT partNumber,uploadId"),
      "POST uploadId",
    ]);
  });

  it("sizes parts so that 10,000 of them hold what is expected", async () => {
    const { store, server } = await open();
    const writer = await store.openWriter("long", { expectedSize: 1e11 });
    for (let i = 0; i < 2; i++) await writer.write(new Uint8Array(1.2e7));
    await writer.commit();
    const parts = server.requests.filter(({ method }) => method === "PUT").map(({ body }) => body.length);
    expect(parts).toEqual([11 * 2 ** 20, 11 * 2 ** 20, 2.4e7 - 22 * 2 ** 20]);
  });

  it("leaves no upload that is given up, and takes none for whole that fails while it is joined", async () => {
    const { store, server } = await open();
    const [given, failing] = [await openUpload(store, 9e6), await openUpload(store, 9e6)];
    expect(server.uploads.size).toBe(2);
    await given.abort();
    expect([server.uploads.size, server.objects.size]).toEqual([1, 0]);
    server.faults.push(pass, answering("<Error><Code>InternalError</Code></Error>"));
    const failure = { code: "transient", details: { found: "500 InternalError" } };
    await expect(failing.commit()).rejects.toMatchObject(failure);
  });

  it("takes an upload whose last answer was lost for whole, and no other's object for it", async () => {
    const { store, server } = await open({ retry: { firstWait: "1ms" } });
    const first = await openUpload(store, 9e6);
    server.faults.push(pass, (response) => {
      // it is joined, but nobody hears of it
      response.end = () => response.destroy();
      return false;
    });
    await first.commit();
    expect(server.objects.get("long")).toHaveLength(9e6);
    const second = await openUpload(store, 9.5e6);
    server.uploads.clear();
    await expect(second.commit()).rejects.toMatchObject({ code: "source-changed", details: { key: "long" } });
    await second.abort();
  });

  it("reports uploads that were not ended, and of how to end them", async () => {
    const { store, server } = await open({ prefix: "p" }, { pageSize: 2 });
    const begin = async (of: S3Store, key: string) => (await of.openWriter(key)).write(new Uint8Array(9e6));
    for (const key of ["a/1", "a/ü 2", "a/3", "b"]) await begin(store, key);
    await begin(storeIn(server), "q");
    const uploads = await all(store.listUploads("a/"));
    expect(uploads.map(({ key }) => key)).toEqual(["a/1", "a/ü 2", "a/3"]);
    const [id] = server.uploads.keys();
    expect(uploads[0]).toMatchObject({
      begun: new Date("2026-01-02T03:04:05Z"),
      hint: `Run \`aws s3api abort-multipart-upload --bucket bucket --key 'p/a/1' --upload-id '${id}'\` to end it.`,
    });
  });

  it.each([
    [503, "SlowDown", "transient"],
    [400, "RequestTimeout", "transient"],
    [500, "InternalError", "transient"],
    [429, undefined, "transient"],
    [403, "AccessDenied", "access-denied"],
    [403, "InvalidAccessKeyId", "access-denied"],
    [400, "ExpiredToken", "access-denied"],
    [403, undefined, "access-denied"],
    [404, "NoSuchBucket", "not-found"],
    [507, "XMinioStorageFull", "no-space"],
    [400, "Whatever", "unsupported-operation"],
  ])("%i %s is %s", async (status, code, expected) => {
    const { store, server } = await open();
    server.fault = refusal(status, code);
    await allReject([store.get("a"), store.set("a", text("1")), all(store.list(""))], {
      code: expected,
      details: { store: "s3://bucket", found: expect.stringContaining(String(status)) },
    });
  });

  it("distinguishes a missing bucket from a missing key, also by HEAD", async () => {
    const { store, server } = await open();
    expect([await store.size("none"), await store.get("none")]).toEqual([undefined, undefined]);
    const other = storeIn(server, { bucket: "other" });
    const missing = { code: "not-found", reason: "the bucket does not exist" };
    await allReject([other.size("a"), other.get("a"), other.set("a", text("1"))], missing);
  });

  it("takes 403 for a missing key where an option says so", async () => {
    const { store, server } = await open({ missing403: true });
    for (const ask of [() => store.get("a"), () => store.size("a")]) {
      server.faults.push(refusal(403, "AccessDenied"));
      expect(await ask()).toBeUndefined();
    }
    server.faults.push(refusal(403, "SignatureDoesNotMatch"), refusal(403, "AccessDenied"));
    await expect(store.get("a")).rejects.toMatchObject({ code: "access-denied" });
    await expect(store.set("a", text("1"))).rejects.toMatchObject({ code: "access-denied" });
  });

  it("makes every request again that failed for now, and takes no body that is cut", async () => {
    const retries: string[] = [];
    const onRetry = ({ operation, key }: Retry) => void retries.push(`${operation} ${key}`);
    const { store, server } = await open({ retry: { firstWait: "1ms", onRetry } });
    const cut: S3Fault = (response) => {
      response.writeHead(200, { "content-length": 3 }).write("a", () => response.destroy());
      return true;
    };
    server.faults.push(busy);
    await store.set("k", text("abc"));
    server.faults.push(busy, cut);
    expect(await store.get("k")).toEqual(text("abc"));
    server.faults.push(busy);
    expect(await store.size("k")).toBe(3);
    server.faults.push(busy);
    expect(await all(store.list(""))).toMatchObject([{ key: "k", size: 3 }]);
    server.faults.push(busy);
    await store.delete("k");
    server.faults.push(busy, pass, busy);
    await (await openUpload(store, 1e7)).commit();
    expect(server.objects.get("long")?.length).toBe(1e7);
    expect(retries.join()).toBe("PUT k,get k,get k,size k,GET ,DELETE k,POST long,PUT long");
  });

  it("asks again when the server did not respond in time, before an answer and amid a body", async () => {
    const { store, server } = await open({ retry: { timeout: 0.5, attempts: 3 } });
    server.objects.set("k", Buffer.from("abc"));
    const silent: S3Fault = () => true;
    const stalls: S3Fault = (response) => response.writeHead(200, { "content-length": 3 }).write("a") || true;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const letPass = async (...requests: number[]) => {
      for (const count of requests) {
        await until(() => server.requests.length === count);
        await settled();
        vi.advanceTimersByTime(500);
      }
    };
    server.faults.push(silent, stalls);
    const reading = store.get("k");
    await letPass(1, 2);
    expect(await reading).toEqual(text("abc"));
    server.faults.push(silent, silent, silent);
    const failure = { code: "transient", exitCode: 5, details: { found: "nothing for 0.5 s", key: "k" } };
    const failing = expect(store.size("k")).rejects.toMatchObject(failure);
    await letPass(4, 5, 6);
    await failing;
  });

  it("writes a value where there is none, once", async () => {
    const { store, server } = await open({ prefix: "p" });
    const tries = Array.from({ length: 8 }, (_, i) => store.setIfAbsent("lock", text(String(i))));
    const won = (await Promise.all(tries)).indexOf(true);
    expect(server.objects.get("p/lock")?.toString()).toBe(String(won));
    expect(await store.setIfAbsent("lock", text("x"))).toBe(false);
    server.faults.push(refusal(501, "NotImplemented"));
    const trying = store.setIfAbsent("other", text("x"));
    await expect(trying).rejects.toMatchObject({ code: "unsupported-operation" });
  });

  it("does not end a write that is given up before the server has carried it out", async () => {
    const { store, server } = await open();
    const caller = new AbortController();
    server.fault = async () => {
      caller.abort();
      await settled();
      return false;
    };
    await store.set("a", text("1"), { signal: caller.signal }).catch(() => {});
    expect([...server.objects.keys()]).toEqual(["a"]);
  });

  it("deletes 1,000 keys in one request", async () => {
    const { store, server } = await open({ prefix: "p" });
    const keys = Array.from({ length: 2001 }, (_, i) => `a&<b>/${i}`);
    for (const key of [...keys, "kept"]) server.objects.set(`p/${key}`, Buffer.from("x"));
    await store.deleteMany([...keys, "none"]);
    expect([...server.objects.keys()]).toEqual(["p/kept"]);
    expect(server.requests).toHaveLength(3);
    await store.deleteMany(["kept", "a\u0001"]);
    expect(server.objects.size).toBe(0);
    expect(server.requests.at(-1)).toMatchObject({ method: "DELETE", key: "p/a\u0001" });
    await expect(store.deleteMany(["../x"])).rejects.toMatchObject({ code: "path-not-allowed" });
  });

  it("deletes again what failed for now, and one by one where the server cannot do more", async () => {
    const { store, server } = await open({ retry: { firstWait: "1ms" } });
    const deletedAfter = async (fault: S3Fault) => {
      for (const key of ["a", "b", "c"]) server.objects.set(key, Buffer.from("x"));
      server.faults.push(fault);
      await store.deleteMany(["a", "b", "c"]);
      return server.objects.size;
    };
    const failed = (key: string, code = "SlowDown") => `<Error><Key>${key}</Key><Code>${code}</Code></Error>`;
    const partly: S3Fault = (response) => {
      server.objects.delete("a");
      response.end(`<DeleteResult>${failed("b")}${failed("c")}</DeleteResult>`);
      return true;
    };
    expect(await deletedAfter(partly)).toBe(0);
    expect(server.requests.at(-1)?.body.toString()).not.toContain("<Key>a<");
    expect(await deletedAfter(refusal(501, "NotImplemented"))).toBe(0);
    const denied = answering(`<DeleteResult>${failed("b", "AccessDenied")}</DeleteResult>`);
    await expect(deletedAfter(denied)).rejects.toMatchObject({
      code: "access-denied",
      details: { key: "b", found: "500 AccessDenied" },
    });
  });

  it("sends half as many requests after a round that the server refuses, then about one more for each", async () => {
    const rounds: number[] = [];
    const waiting: (() => void)[] = [];
    const answerRound = async () => {
      await settled();
      rounds.push(waiting.length);
      for (const next of waiting.splice(0)) next();
    };
    const fetch: typeof globalThis.fetch = (url) =>
      new Promise<Response>((resolve) => {
        const full = () => new Response("<Error><Code>SlowDown</Code></Error>", { status: 503 });
        const value = () => new Response(new URL(String(url)).pathname);
        waiting.push(() => resolve(rounds.length <= 3 ? full() : value()));
        if (waiting.length === 1) void answerRound();
      });
    const place = { endpoint: "http://of-this-test", credentials: "anonymous", fetch } as const;
    const store = new S3Store({ bucket: BUCKET, ...place, retry: { attempts: 12 } });
    const values = await Promise.all(Array.from({ length: 150 }, (_, i) => store.get(`${i}`)));
    for (const [i, value] of values.entries()) expect(`${Buffer.from(value ?? [])}`).toBe(`/${BUCKET}/${i}`);
    expect(rounds.slice(0, 8)).toEqual([64, 32, 16, 8, 8, 9, 10, 11]);
  });

  it.each(["wrongkey1", ACCESS_KEY])("shows no credential, whatever goes wrong (%s)", async (accessKeyId) => {
    const bad = { accessKeyId, secretAccessKey: "wrongsecret1", sessionToken: "wrongtoken1" };
    const { store } = await open({ credentials: bad });
    for (const ask of [() => store.get("a"), () => store.size("a"), () => store.set("a", text("1"))]) {
      const error = await ask().catch((failure) => failure);
      expect(error).toMatchObject({ code: "access-denied" });
      const shown = JSON.stringify([error.message, error.details, store.description]);
      expect(shown).not.toMatch(/wrong|testkey|Signature=/);
    }
  });

  it.each([
    { bucket: "a" },
    { endpoint: "http://user:word@host" },
    { endpoint: "http://host/path" },
    { endpoint: "ftp://host" },
  ])("refuses %j", (more) => {
    const make = () => storeIn({ endpoint: "http://127.0.0.1:1" }, more);
    expect(make).toThrow(expect.objectContaining({ code: "invalid-option" }));
  });
});
