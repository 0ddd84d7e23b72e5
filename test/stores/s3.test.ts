// @module-tag slow
import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Retry } from "../../src/stores/remote/retry-events.ts";
import { S3Store, type S3StoreOptions } from "../../src/stores/s3.ts";
import { all } from "../support/consume.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { settled, until } from "../support/until.ts";
import { ACCESS_KEY, BUCKET, type S3Fault, type S3Server, SECRET_KEY, serveBucket } from "./s3-server.ts";
import { writableStoreChecks } from "./writable-store-checks.ts";

const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
const once = { attempts: 1 };
const text = (value: string) => new TextEncoder().encode(value);

describe("S3Store", () => {
  withoutPauses();
  const servers: S3Server[] = [];
  const serve = async (options?: Parameters<typeof serveBucket>[0]) => {
    const server = await serveBucket(options);
    servers.push(server);
    return server;
  };
  const open = async (more: Partial<S3StoreOptions> = {}, options?: Parameters<typeof serveBucket>[0]) => {
    const server = await serve(options);
    return {
      server,
      store: new S3Store({ bucket: BUCKET, endpoint: server.endpoint, credentials, retry: once, ...more }),
    };
  };
  afterEach(async () => {
    vi.useRealTimers();
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  describe.each([
    ["at the root of a bucket", {}, {}],
    ["below a prefix, in pages of 2", { prefix: "a b/+x" }, { pageSize: 2 }],
  ])("%s", (_, more, options) => {
    for (const { name, run } of writableStoreChecks(async () => (await open(more, options)).store))
      it(name, () => run());
  });

  it("signs keys and prefixes with any characters", async () => {
    const { store, server } = await open({ prefix: "ü!*'()" });
    const key = "a b+c/é&=?#%25~/日本";
    await store.set(key, text("1"));
    expect([...server.objects.keys()]).toEqual([`ü!*'()/${key}`]);
    expect(await store.get(key)).toEqual(text("1"));
    expect(await all(store.list("a b+c/"))).toMatchObject([{ key, size: 1 }]);
  });

  it("does not show objects that stand for folders", async () => {
    const { store, server } = await open({ prefix: "p" });
    for (const key of ["p/", "p/a/", "p/a/b", "q"]) server.objects.set(key, Buffer.from("x"));
    expect(await all(store.list(""))).toMatchObject([{ key: "a/b", size: 1 }]);
    expect(await all(store.listDirectory(""))).toEqual([{ prefix: "a/" }]);
  });

  it("writes small values in one request, and long ones in parts of which one is held", async () => {
    const { store, server } = await open();
    const small = await store.openWriter("small");
    await small.write(text("ab"));
    await small.write(text("c"));
    await small.commit();
    expect(server.requests.map(({ method }) => method)).toEqual(["PUT"]);
    expect(server.objects.get("small")?.toString()).toBe("abc");

    const long = await store.openWriter("long");
    const piece = randomBytes(3_000_000);
    for (let i = 0; i < 6; i++) await long.write(piece);
    expect(server.objects.has("long")).toBe(false);
    await long.commit();
    expect(server.objects.get("long")?.equals(Buffer.concat(Array(6).fill(piece)))).toBe(true);
    expect(server.requests.slice(1).map(({ method, query }) => `${method} ${[...query.keys()]}`)).toEqual([
      "POST uploads",
      "PUT partNumber,uploadId",
      "PUT partNumber,uploadId",
      "PUT partNumber,uploadId",
      "POST uploadId",
    ]);
  });

  it("leaves no upload behind when one is given up", async () => {
    const { store, server } = await open();
    const writer = await store.openWriter("long");
    await writer.write(new Uint8Array(9e6));
    expect(server.uploads.size).toBe(1);
    await writer.abort();
    expect(server.uploads.size).toBe(0);
    expect(server.objects.size).toBe(0);
  });

  it("an upload that fails while its parts are joined is an error, though the server says 200", async () => {
    const { store, server } = await open();
    const writer = await store.openWriter("long");
    await writer.write(new Uint8Array(9e6));
    server.faults.push(
      () => false,
      (response) => {
        response.end("<Error><Code>InternalError</Code></Error>");
        return true;
      },
    );
    await expect(writer.commit()).rejects.toMatchObject({
      code: "transient",
      details: { found: "500 InternalError" },
    });
  });

  it("follows the region that the server names", async () => {
    const { store, server } = await open({}, { region: "eu-north-1" });
    await store.set("a", text("1"));
    await store.set("b", text("2"));
    expect(server.requests).toHaveLength(3);
  });

  it("sends headers of the caller with every request, signed", async () => {
    const { store, server } = await open({ headers: { "x-amz-request-payer": "requester" } });
    await store.set("a", text("1"));
    await store.get("a");
    await all(store.list(""));
    for (const { headers } of server.requests) expect(headers["x-amz-request-payer"]).toBe("requester");
  });

  it("signs nothing when it is anonymous", async () => {
    const { store, server } = await open({ credentials: "anonymous" }, { open: true });
    await store.set("a", text("1"));
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  const answer =
    (status: number, code?: string, headers: Record<string, string> = {}): S3Fault =>
    (response) => {
      response.writeHead(status, headers).end(code && `<Error><Code>${code}</Code></Error>`);
      return true;
    };

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
    for (const ask of [() => store.get("a"), () => store.set("a", text("1")), () => all(store.list(""))]) {
      server.faults.push(answer(status, code));
      await expect(ask()).rejects.toMatchObject({
        code: expected,
        details: { store: "s3://bucket", found: expect.stringContaining(String(status)) },
      });
    }
  });

  it("distinguishes a missing bucket from a missing key, also by HEAD", async () => {
    const { store, server } = await open();
    expect(await store.size("none")).toBeUndefined();
    expect(await store.get("none")).toBeUndefined();
    const other = new S3Store({ bucket: "other", endpoint: server.endpoint, credentials });
    for (const ask of [() => other.size("a"), () => other.get("a"), () => other.set("a", text("1"))]) {
      await expect(ask()).rejects.toMatchObject({ code: "not-found", reason: "there is no such bucket" });
    }
  });

  it("makes every request again that failed for now, and takes no body that is cut", async () => {
    const retries: string[] = [];
    const onRetry = ({ operation, key }: Retry) => void retries.push(`${operation} ${key}`);
    const { store, server } = await open({ retry: { firstWait: "1ms", onRetry } });
    const busy = answer(503, "SlowDown");
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
    server.faults.push(busy, () => false, busy);
    const writer = await store.openWriter("long");
    await writer.write(new Uint8Array(1e7));
    await writer.commit();
    expect(server.objects.get("long")?.length).toBe(1e7);
    expect(retries).toEqual([
      "PUT k",
      "get k",
      "get k",
      "size k",
      "GET ",
      "DELETE k",
      "POST long",
      "PUT long",
    ]);
  });

  it("writes a value where there is none, once", async () => {
    const { store, server } = await open({ prefix: "p" });
    const tries = Array.from({ length: 8 }, (_, i) => store.setIfAbsent("lock", text(String(i))));
    const won = (await Promise.all(tries)).indexOf(true);
    expect(server.objects.get("p/lock")?.toString()).toBe(String(won));
    expect(await store.setIfAbsent("lock", text("x"))).toBe(false);
    server.faults.push(answer(501, "NotImplemented"));
    await expect(store.setIfAbsent("other", text("x"))).rejects.toMatchObject({
      code: "unsupported-operation",
    });
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
    const fill = () => {
      for (const key of ["a", "b", "c"]) server.objects.set(key, Buffer.from("x"));
    };
    fill();
    server.faults.push((response) => {
      server.objects.delete("a");
      const failed = ["b", "c"].map((key) => `<Error><Key>${key}</Key><Code>SlowDown</Code></Error>`);
      response.end(`<DeleteResult>${failed.join("")}</DeleteResult>`);
      return true;
    });
    await store.deleteMany(["a", "b", "c"]);
    expect(server.objects.size).toBe(0);
    expect(server.requests.at(-1)?.body.toString()).not.toContain("<Key>a<");

    fill();
    server.faults.push(answer(501, "NotImplemented"));
    await store.deleteMany(["a", "b", "c"]);
    expect(server.objects.size).toBe(0);

    fill();
    server.faults.push((response) => {
      response.end("<DeleteResult><Error><Key>b</Key><Code>AccessDenied</Code></Error></DeleteResult>");
      return true;
    });
    await expect(store.deleteMany(["a", "b"])).rejects.toMatchObject({
      code: "access-denied",
      details: { key: "b", found: "500 AccessDenied" },
    });
  });

  it("reports uploads that were not ended, and of how to end them", async () => {
    const { store, server } = await open({ prefix: "p" }, { pageSize: 2 });
    const other = new S3Store({ bucket: BUCKET, endpoint: server.endpoint, credentials });
    const begin = async (of: S3Store, key: string) => (await of.openWriter(key)).write(new Uint8Array(9e6));
    for (const key of ["a/1", "a/ü 2", "a/3", "b"]) await begin(store, key);
    await begin(other, "q");
    const uploads = await all(store.listUploads("a/"));
    expect(uploads.map(({ key }) => key)).toEqual(["a/1", "a/ü 2", "a/3"]);
    const [id] = server.uploads.keys();
    expect(uploads[0]).toMatchObject({
      begun: new Date("2026-01-02T03:04:05Z"),
      hint: `Run \`aws s3api abort-multipart-upload --bucket bucket --key 'p/a/1' --upload-id '${id}'\` to end it.`,
    });
  });

  it("sizes parts so that 10,000 of them hold what is expected", async () => {
    const { store, server } = await open();
    const writer = await store.openWriter("long", { expectedSize: 1e11 });
    await writer.write(new Uint8Array(1.2e7));
    await writer.write(new Uint8Array(1.2e7));
    await writer.commit();
    const parts = server.requests.filter(({ method }) => method === "PUT").map(({ body }) => body.length);
    expect(parts).toEqual([11 * 2 ** 20, 11 * 2 ** 20, 2.4e7 - 22 * 2 ** 20]);
  });

  it("an upload whose last answer was lost is whole, and no other's object is taken for it", async () => {
    const { store, server } = await open({ retry: { firstWait: "1ms" } });
    const write = async (bytes: number) => {
      const writer = await store.openWriter("long");
      await writer.write(new Uint8Array(bytes));
      return writer;
    };
    const first = await write(9e6);
    server.faults.push(
      () => false,
      (response) => {
        // it is joined, but nobody hears of it
        response.end = () => response.destroy();
        return false;
      },
    );
    await first.commit();
    expect(server.objects.get("long")).toHaveLength(9e6);

    const second = await write(9.5e6);
    server.uploads.clear();
    await expect(second.commit()).rejects.toMatchObject({ code: "source-changed", details: { key: "long" } });
    await second.abort();
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
        const busy = () => new Response("<Error><Code>SlowDown</Code></Error>", { status: 503 });
        waiting.push(() =>
          resolve(rounds.length <= 3 ? busy() : new Response(new URL(String(url)).pathname)),
        );
        if (waiting.length === 1) void answerRound();
      });
    const store = new S3Store({
      ...{ bucket: BUCKET, endpoint: "http://of-this-test", credentials: "anonymous", fetch },
      retry: { attempts: 12 },
    });
    const values = await Promise.all(Array.from({ length: 150 }, (_, i) => store.get(`${i}`)));
    expect(values.map((value) => Buffer.from(value ?? "").toString())).toEqual(
      Array.from({ length: 150 }, (_, i) => `/${BUCKET}/${i}`),
    );
    expect(rounds.slice(0, 8)).toEqual([64, 32, 16, 8, 8, 9, 10, 11]);
  });

  it("asks again when the server did not respond in time, before an answer and amid a body", async () => {
    const { store, server } = await open({ retry: { timeout: 0.5, attempts: 5 } });
    server.objects.set("k", Buffer.from("abc"));
    const silent: S3Fault = () => true;
    const stalls: S3Fault = (response) => {
      response.writeHead(200, { "content-length": 3 }).write("a");
      return true;
    };
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const letPass = async (requests: number) => {
      await until(() => server.requests.length === requests);
      await settled();
      vi.advanceTimersByTime(500);
    };
    server.faults.push(silent, stalls);
    const reading = store.get("k");
    for (const requests of [1, 2]) await letPass(requests);
    expect(await reading).toEqual(text("abc"));
    expect(server.requests).toHaveLength(3);
    server.faults.push(silent, silent, silent, silent, silent);
    const failing = expect(store.size("k")).rejects.toMatchObject({
      code: "transient",
      exitCode: 5,
      details: { found: "nothing for 0.5 s", key: "k" },
    });
    for (const requests of [4, 5, 6, 7, 8]) await letPass(requests);
    await failing;
  });

  it("takes 403 for a missing key where an option says so", async () => {
    const { store, server } = await open({ missing403: true });
    for (const ask of [() => store.get("a"), () => store.size("a")]) {
      server.faults.push(answer(403, "AccessDenied"));
      expect(await ask()).toBeUndefined();
    }
    server.faults.push(answer(403, "SignatureDoesNotMatch"), answer(403, "AccessDenied"));
    await expect(store.get("a")).rejects.toMatchObject({ code: "access-denied" });
    await expect(store.set("a", text("1"))).rejects.toMatchObject({ code: "access-denied" });
  });

  it("pays, and encrypts, where an option says so", async () => {
    const { store, server } = await open({
      requesterPays: true,
      encryption: { algorithm: "aws:kms", kmsKeyId: "k1", bucketKey: true },
    });
    await store.set("a", text("1"));
    await store.get("a");
    const [put, get] = server.requests;
    expect(put?.headers).toMatchObject({
      "x-amz-request-payer": "requester",
      "x-amz-server-side-encryption": "aws:kms",
      "x-amz-server-side-encryption-aws-kms-key-id": "k1",
      "x-amz-server-side-encryption-bucket-key-enabled": "true",
    });
    expect(get?.headers).toMatchObject({ "x-amz-request-payer": "requester" });
    expect(get?.headers).not.toHaveProperty("x-amz-server-side-encryption");
  });

  it("shows no credential, whatever goes wrong", async () => {
    const { server } = await open();
    const wrong = { accessKeyId: "wrongkey1", secretAccessKey: "wrongsecret1", sessionToken: "wrongtoken1" };
    for (const bad of [wrong, { ...wrong, accessKeyId: ACCESS_KEY }]) {
      const store = new S3Store({ bucket: BUCKET, endpoint: server.endpoint, credentials: bad });
      for (const ask of [() => store.get("a"), () => store.size("a"), () => store.set("a", text("1"))]) {
        const error = await ask().then(
          () => undefined,
          (failure) => failure,
        );
        expect(error).toMatchObject({ code: "access-denied" });
        expect(JSON.stringify([error.message, error.details, store.description])).not.toMatch(
          /wrong|testkey|Signature=/,
        );
      }
    }
  });

  it.each([
    { bucket: "a" },
    { bucket: "a/b" },
    { endpoint: "http://user:word@host" },
    { endpoint: "http://host/path" },
    { endpoint: "ftp://host" },
  ])("refuses %j", (more) => {
    expect(() => new S3Store({ bucket: BUCKET, credentials, ...more })).toThrow(
      expect.objectContaining({ code: "invalid-option" }),
    );
  });
});
