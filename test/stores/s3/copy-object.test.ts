import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { copyObject } from "../../../src/stores/s3/copy-object.ts";
import { S3Client } from "../../../src/stores/s3/s3-client.ts";
import { S3Store } from "../../../src/stores/s3.ts";
import { ACCESS_KEY, BUCKET, type S3Server, SECRET_KEY, serveBucket } from "../s3-server.ts";

const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
const MIB = 2 ** 20;

let server: S3Server;
beforeEach(async () => {
  server = await serveBucket();
});
afterEach(() => server.close());

const open = (prefix: string, more = {}) =>
  new S3Store({
    bucket: BUCKET,
    prefix,
    endpoint: server.endpoint,
    credentials,
    retry: { attempts: 1 },
    ...more,
  });
const methods = () => server.requests.map(({ method }) => method);

describe("S3Store.copierFrom", () => {
  it("has the server copy, with no byte through here", async () => {
    server.objects.set("from/a b/ü+&", Buffer.from("value"));
    const [from, to] = [open("from"), open("to")];
    const copy = await to.copierFrom(from);
    expect(await copy?.({ key: "a b/ü+&", size: 5 }, "x/y")).toBe(5);
    expect(server.objects.get("to/x/y")?.toString()).toBe("value");
    expect(methods()).toEqual(["PUT"]);
    expect(server.requests[0]?.body).toHaveLength(0);
  });

  it("asks for the size where the listing did not tell it", async () => {
    server.objects.set("from/a", Buffer.from("value"));
    const copy = await open("to").copierFrom(open("from"));
    expect(await copy?.({ key: "a" }, "a")).toBe(5);
    expect(methods()).toEqual(["HEAD", "PUT"]);
  });

  it("reports what is gone, and refuses what came in its place", async () => {
    server.objects.set("from/a", Buffer.from("value"));
    const copy = await open("to").copierFrom(open("from"));
    expect(await copy?.({ key: "b", size: 5 }, "b")).toBeUndefined();
    await expect(copy?.({ key: "a", size: 5, etag: "0".repeat(32) }, "a")).rejects.toMatchObject({
      code: "source-changed",
      details: { key: "a" },
    });
    expect(server.objects.has("to/a")).toBe(false);
  });

  it("is not there for another server, other credentials, keys of customers and other stores", async () => {
    const to = open("to");
    const other = { ...credentials, accessKeyId: "other" };
    const customerKey = { customerKey: "a2V5", customerKeyMd5: "bWQ1" };
    expect(await to.copierFrom(open("from"))).toBeDefined();
    expect(await to.copierFrom(open("from", { credentials: async () => credentials }))).toBeDefined();
    expect(await to.copierFrom(open("from", { endpoint: "http://127.0.0.1:1" }))).toBeUndefined();
    expect(await to.copierFrom(open("from", { credentials: other }))).toBeUndefined();
    expect(await to.copierFrom(open("from", { credentials: "anonymous" }))).toBeUndefined();
    expect(await to.copierFrom(open("from", { encryption: customerKey }))).toBeUndefined();
    expect(await to.copierFrom({ ...to, get: to.get, size: to.size })).toBeUndefined();
  });
});

describe("copyObject", () => {
  const client = () =>
    new S3Client({ bucket: BUCKET, endpoint: server.endpoint, credentials, retry: { attempts: 1 } });
  const value = Buffer.alloc(11 * MIB, "0123456789abcde");
  const from = { bucket: BUCKET, key: "large", size: value.length };

  it("copies large objects in parts", async () => {
    server.objects.set("large", value);
    expect(await copyObject(client(), "copy", from, { largest: 5 * MIB })).toBe(true);
    expect(server.objects.get("copy")?.equals(value)).toBe(true);
    expect(methods()).toEqual(["POST", "PUT", "PUT", "PUT", "POST"]);
    expect(server.requests.map(({ headers }) => headers["x-amz-copy-source-range"]).filter(Boolean)).toEqual([
      `bytes=0-${5 * MIB - 1}`,
      `bytes=${5 * MIB}-${10 * MIB - 1}`,
      `bytes=${10 * MIB}-${11 * MIB - 1}`,
    ]);
  });

  it("leaves no upload when a part fails", async () => {
    server.objects.set("large", value);
    server.faults.push(
      () => false,
      () => false,
      (response) => {
        response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
        return true;
      },
    );
    const copied = copyObject(client(), "copy", from, { largest: 5 * MIB });
    await expect(copied).rejects.toMatchObject({ code: "access-denied" });
    expect(server.uploads.size).toBe(0);
    expect(server.objects.has("copy")).toBe(false);
  });

  it.each([
    ["30s", 300],
    ["10min", 600],
  ])(
    "waits for a server that copies as long as is stated, and 300 s at least: %s",
    async (timeout, seconds) => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
      try {
        const fetch = vi.fn(
          (_: unknown, { signal }: RequestInit = {}) =>
            new Promise<Response>((_, reject) =>
              signal?.addEventListener("abort", () => reject(signal.reason)),
            ),
        );
        const retry = { attempts: 1, timeout };
        const silent = new S3Client({ bucket: BUCKET, endpoint: server.endpoint, credentials, fetch, retry });
        const end = vi.fn();
        const copied = copyObject(silent, "copy", from).catch(end);
        await vi.waitUntil(() => fetch.mock.calls.length > 0);
        await vi.advanceTimersByTimeAsync(seconds * 1000 - 5000);
        expect(end).not.toHaveBeenCalled();
        await vi.advanceTimersByTimeAsync(10_000);
        await copied;
        expect(end.mock.calls[0]?.[0]).toMatchObject({ code: "transient" });
      } finally {
        vi.useRealTimers();
      }
    },
  );

  it("refuses an answer of 200 that is an error", async () => {
    server.objects.set("large", value);
    server.faults.push((response) => {
      response.end("<Error><Code>InternalError</Code></Error>");
      return true;
    });
    await expect(copyObject(client(), "copy", from)).rejects.toMatchObject({ code: "transient" });
  });
});
