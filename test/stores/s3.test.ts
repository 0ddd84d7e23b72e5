import { afterEach, describe, expect, it } from "vitest";
import type { Retry } from "../../src/stores/repeat.ts";
import { S3Store, type S3StoreOptions } from "../../src/stores/s3.ts";
import { storeChecks } from "../../src/stores/testing.ts";
import { ACCESS_KEY, BUCKET, type S3Fault, type S3Server, SECRET_KEY, serveBucket } from "./s3-server.ts";

const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
const once = { attempts: 1 };
const text = (value: string) => new TextEncoder().encode(value);

describe("S3Store", () => {
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
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  describe.each([
    ["at the root of a bucket", {}, {}],
    ["below a prefix, in pages of 2", { prefix: "a b/+x" }, { pageSize: 2 }],
  ])("%s", (_, more, options) => {
    const empty = async () => (await open(more, options)).store;
    const filled = async (values: ReadonlyMap<string, Uint8Array>) => {
      const store = await empty();
      for (const [key, value] of values) await store.set(key, value);
      return store;
    };
    it.each(storeChecks({ lists: true, filled, empty }))("$name", ({ run }) => run());
  });

  it("signs keys and prefixes with any characters", async () => {
    const { store, server } = await open({ prefix: "ü!*'()" });
    const key = "a b+c/é&=?#%25~/日本";
    await store.set(key, text("1"));
    expect([...server.objects.keys()]).toEqual([`ü!*'()/${key}`]);
    expect(await store.get(key)).toEqual(text("1"));
    expect(await all(store.list("a b+c/"))).toEqual([{ key, size: 1 }]);
  });

  it("does not show objects that stand for folders", async () => {
    const { store, server } = await open({ prefix: "p" });
    for (const key of ["p/", "p/a/", "p/a/b", "q"]) server.objects.set(key, Buffer.from("x"));
    expect(await all(store.list(""))).toEqual([{ key: "a/b", size: 1 }]);
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
    const piece = Uint8Array.from({ length: 3_000_000 }, (_, i) => i * 7);
    for (let i = 0; i < 7; i++) await long.write(piece);
    expect(server.objects.has("long")).toBe(false);
    await long.commit();
    expect(server.objects.get("long")?.equals(Buffer.concat(Array(7).fill(piece)))).toBe(true);
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
    await writer.write(new Uint8Array(2e7));
    expect(server.uploads.size).toBe(1);
    await writer.abort();
    expect(server.uploads.size).toBe(0);
    expect(server.objects.size).toBe(0);
  });

  it("an upload that fails while its parts are joined is an error, though the server says 200", async () => {
    const { store, server } = await open();
    const writer = await store.openWriter("long");
    await writer.write(new Uint8Array(2e7));
    server.faults.push(
      () => false,
      (response) => {
        response.end("<Error><Code>InternalError</Code></Error>");
        return true;
      },
    );
    await expect(writer.commit()).rejects.toMatchObject({
      code: "transient",
      details: { found: "InternalError" },
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

  it("fetches credentials once, and anew before they expire", async () => {
    let fetched = 0;
    let minutes = 4;
    const fetchThem = async () => {
      fetched++;
      return { ...credentials, expiration: new Date(Date.now() + minutes * 60_000) };
    };
    const { store } = await open({ credentials: fetchThem });
    await store.set("a", text("1"));
    minutes = 60;
    await store.set("a", text("1"));
    await Promise.all([store.get("a"), store.get("a")]);
    expect(fetched).toBe(2);
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

  it("tells a missing bucket from a missing key, also by HEAD", async () => {
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
    const { store, server } = await open({ retry: { firstWait: 1, onRetry } });
    const busy = answer(503, "SlowDown");
    const cut: S3Fault = (response) => {
      response.writeHead(200, { "content-length": 3 }).write("a");
      setTimeout(() => response.destroy(), 10);
      return true;
    };
    server.faults.push(busy);
    await store.set("k", text("abc"));
    server.faults.push(busy, cut);
    expect(await store.get("k")).toEqual(text("abc"));
    server.faults.push(busy);
    expect(await store.size("k")).toBe(3);
    server.faults.push(busy);
    expect(await all(store.list(""))).toEqual([{ key: "k", size: 3 }]);
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

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
