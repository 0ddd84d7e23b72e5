import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AwsV4Signer } from "aws4fetch";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { copyObject } from "../../../src/stores/s3/object-requests.ts";
import { openS3 } from "../../../src/stores/s3/open-s3.ts";
import { S3Client } from "../../../src/stores/s3/s3-client.ts";
import { nodeDigests, signRequest, webDigests } from "../../../src/stores/s3/sign-request.ts";
import { elements, elementText, escaped } from "../../../src/stores/s3/xml.ts";
import { s3Environment, stubEnvironment as set } from "../../support/s3-environment.ts";
import {
  ACCESS_KEY,
  BUCKET,
  refusal,
  type S3Server,
  SECRET_KEY,
  serveBucket,
  storeIn,
} from "../s3-server.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const ONE = new Uint8Array(1);
const MIB = 2 ** 20;
const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
const folder = temporaryFolder();

let server: S3Server;
beforeEach(async () => {
  server = await serveBucket();
  return () => server.close();
});
afterEach(() => void vi.useRealTimers());
const methods = () => server.requests.map(({ method }) => method);

describe("openS3", () => {
  const spec = { kind: "s3", bucket: BUCKET, prefix: "" } as const;
  beforeEach(() => {
    for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) vi.stubEnv(name, undefined);
    set({
      ...s3Environment(server.endpoint),
      AWS_CONFIG_FILE: join(folder.path, "config"),
      AWS_SHARED_CREDENTIALS_FILE: join(folder.path, "credentials"),
      AWS_EC2_METADATA_DISABLED: "true",
    });
    return () => vi.unstubAllEnvs();
  });
  /** The headers of a write, of a read, and of a long write. */
  const headersSent = async () => {
    const store = await openS3(spec);
    await store.set("a", ONE);
    await store.get("a");
    const writer = await store.openWriter("b");
    await writer.write(new Uint8Array(9 * MIB));
    await writer.commit();
    return server.requests.map(({ headers }) => headers);
  };

  it("takes credentials and the endpoint from variables, that of S3 alone first", async () => {
    set({ AWS_ENDPOINT_URL: "http://127.0.0.1:1", AWS_ENDPOINT_URL_S3: server.endpoint });
    await (await openS3(spec)).set("a", ONE);
    expect(server.objects.size).toBe(1);
  });

  it("takes them from a profile", async () => {
    set({ AWS_ENDPOINT_URL: "", AWS_ACCESS_KEY_ID: undefined, AWS_PROFILE: "science" });
    const keys = `aws_access_key_id = ${ACCESS_KEY}\naws_secret_access_key = ${SECRET_KEY}\n`;
    await writeFile(join(folder.path, "credentials"), `[science]\n${keys}`);
    await writeFile(join(folder.path, "config"), `[profile science]\nendpoint_url = ${server.endpoint}\n`);
    await (await openS3(spec)).set("a", ONE);
    expect(server.objects.size).toBe(1);
    set({ AWS_PROFILE: "none" });
    await expect(openS3(spec)).rejects.toMatchObject({ code: "invalid-option", exitCode: 2 });
  });

  it("is anonymous, and takes 403 for a missing key, where options say so, in spite of credentials", async () => {
    const store = await openS3({ ...spec, anonymous: true });
    await expect(store.get("a")).rejects.toMatchObject({ code: "access-denied" });
    expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
    expect(await (await openS3({ ...spec, anonymous: true, missing403: true })).get("a")).toBeUndefined();
  });

  it("asks as often as an option says", async () => {
    set({ AWS_MAX_ATTEMPTS: "2" });
    server.fault = refusal(503);
    await expect((await openS3(spec)).set("a", ONE)).rejects.toMatchObject({ code: "transient" });
    expect(server.requests).toHaveLength(2);
    set({ AWS_MAX_ATTEMPTS: "0" });
    await expect(openS3(spec)).rejects.toMatchObject({ code: "invalid-option" });
  });

  it("lets the caller pay, and encrypts what is made as variables say", async () => {
    set({ AWS_REQUEST_PAYER: "requester", AWS_SSE_KMS_KEY_ID: "key", AWS_SSE_BUCKET_KEY_ENABLED: "true" });
    const [put, get, begin, ...rest] = await headersSent();
    for (const made of [put, begin]) {
      expect(made).toMatchObject({
        "x-amz-server-side-encryption": "aws:kms",
        "x-amz-server-side-encryption-aws-kms-key-id": "key",
        "x-amz-server-side-encryption-bucket-key-enabled": "true",
      });
    }
    for (const other of [get, ...rest]) expect(Object.keys(other ?? {}).join()).not.toContain("encryption");
    for (const { headers } of server.requests) expect(headers["x-amz-request-payer"]).toBe("requester");
  });

  it("encrypts by a customer's key, which goes along with parts and reads", async () => {
    const key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    set({ AWS_SSE_CUSTOMER_KEY_BASE64: key });
    const sent = await headersSent();
    expect(Object.keys(sent.pop() ?? {}).join()).not.toContain("encryption");
    for (const headers of sent) {
      expect(headers).toMatchObject({
        "x-amz-server-side-encryption-customer-algorithm": "AES256",
        "x-amz-server-side-encryption-customer-key": key,
        "x-amz-server-side-encryption-customer-key-md5": "KYvwGXoFFJ42a2u2GDWhwQ==",
      });
    }
  });

  it("asks the bucket's own host where an option says so", async () => {
    set({ AWS_VIRTUAL_HOSTED_STYLE_REQUEST: "true", AWS_ENDPOINT_URL: "http://localhost:1" });
    const fetch = vi.fn(async (_: URL) => new Response(null, { headers: { "content-length": "3" } }));
    vi.stubGlobal("fetch", fetch);
    try {
      expect(await (await openS3(spec)).size("a/b")).toBe(3);
    } finally {
      vi.unstubAllGlobals();
    }
    expect(fetch.mock.calls.map(([url]) => url.href)).toEqual([`http://${BUCKET}.localhost:1/a/b`]);
  });
});

describe("S3Store.copierFrom", () => {
  const open = (prefix: string, more = {}) => storeIn(server, { prefix, ...more });

  it("has the server copy, with no byte through here, and asks for the size where it was not listed", async () => {
    server.objects.set("from/a b/ü+&", Buffer.from("value"));
    const copy = await open("to").copierFrom(open("from"));
    expect(await copy?.({ key: "a b/ü+&", size: 5 }, "x/y")).toBe(5);
    expect(server.objects.get("to/x/y")?.toString()).toBe("value");
    expect(await copy?.({ key: "a b/ü+&" }, "a")).toBe(5);
    expect(server.requests.map(({ method, body }) => `${method} ${body}`)).toEqual(["PUT ", "HEAD ", "PUT "]);
  });

  it("reports what is gone, and refuses what came in its place", async () => {
    server.objects.set("from/a", Buffer.from("value"));
    const copy = await open("to").copierFrom(open("from"));
    expect(await copy?.({ key: "b", size: 5 }, "b")).toBeUndefined();
    const changed = { code: "source-changed", details: { key: "a" } };
    await expect(copy?.({ key: "a", size: 5, etag: "0".repeat(32) }, "a")).rejects.toMatchObject(changed);
    expect(server.objects.has("to/a")).toBe(false);
  });

  it("is not there for another server, other credentials, keys of customers and other stores", async () => {
    const to = open("to");
    for (const more of [{}, { credentials: async () => credentials }])
      expect(await to.copierFrom(open("from", more))).toBeDefined();
    const other = { ...credentials, accessKeyId: "other" };
    const encryption = { customerKey: "a2V5", customerKeyMd5: "bWQ1" };
    const elsewhere = { endpoint: "http://127.0.0.1:1" };
    for (const more of [elsewhere, { credentials: other }, { credentials: "anonymous" }, { encryption }])
      expect(await to.copierFrom(open("from", more))).toBeUndefined();
    expect(await to.copierFrom({ ...to, get: to.get, size: to.size })).toBeUndefined();
  });
});

describe("copyObject", () => {
  const value = Buffer.alloc(11 * MIB, "0123456789abcde");
  const from = { bucket: BUCKET, key: "large", size: value.length };
  const client = (more = {}) =>
    new S3Client({ bucket: BUCKET, endpoint: server.endpoint, credentials, retry: { attempts: 1 }, ...more });

  it("copies large objects in parts, and leaves no upload when one fails", async () => {
    server.objects.set("large", value);
    expect(await copyObject(client(), "copy", from, { largest: 5 * MIB })).toBe(true);
    expect(server.objects.get("copy")?.equals(value)).toBe(true);
    expect(methods()).toEqual(["POST", "PUT", "PUT", "PUT", "POST"]);
    const ranges = server.requests.map(({ headers }) => headers["x-amz-copy-source-range"]);
    expect(ranges.slice(1, 4)).toEqual(
      ["0-5242879", "5242880-10485759", "10485760-11534335"].map((r) => `bytes=${r}`),
    );
    server.faults.push(
      () => false,
      () => false,
      refusal(403, "AccessDenied"),
    );
    const copied = copyObject(client(), "other", from, { largest: 5 * MIB });
    await expect(copied).rejects.toMatchObject({ code: "access-denied" });
    expect([server.uploads.size, server.objects.has("other")]).toEqual([0, false]);
  });

  it.each([
    ["30s", 300],
    ["10min", 600],
  ])(
    "waits for a server that copies as long as is stated, and 300 s at least: %s",
    async (timeout, seconds) => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
      const fetch = vi.fn((_: unknown, { signal }: RequestInit = {}) => {
        const silent = (_: unknown, reject: (reason: unknown) => void) =>
          signal?.addEventListener("abort", () => reject(signal.reason));
        return new Promise<Response>(silent);
      });
      const end = vi.fn();
      const copied = copyObject(client({ fetch, retry: { attempts: 1, timeout } }), "copy", from).catch(end);
      await vi.waitUntil(() => fetch.mock.calls.length > 0);
      await vi.advanceTimersByTimeAsync(seconds * 1000 - 5000);
      expect(end).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(10_000);
      await copied;
      expect(end.mock.calls[0]?.[0]).toMatchObject({ code: "transient" });
    },
  );

  it("refuses an answer of 200 that is an error", async () => {
    server.objects.set("large", value);
    server.faults.push(refusal(200, "InternalError"));
    await expect(copyObject(client(), "copy", from)).rejects.toMatchObject({ code: "transient" });
  });
});

describe("signRequest", () => {
  const signer = { accessKeyId: "AKID", secretAccessKey: "a/b+c", sessionToken: "token==" };
  beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 1, 3, 23, 59), toFake: ["Date"] }));

  it.each<[string, string, Record<string, string>]>([
    ["GET", "https://bucket.s3.eu-west-1.amazonaws.com/a/b", { range: "bytes=0-1" }],
    ["PUT", "http://127.0.0.1:9000/b/t%2Bm/0.0!(*)'%20%C3%A9", { "x-amz-checksum-crc32": "AAAAAA==" }],
    ["GET", "http://h/b/?prefix=a%2Fb&list-type=2&continuation-token=x%2By%3D&delimiter=%2F", {}],
    ["POST", "http://h/b/?delete=", { "x-two": "a   b", "content-type": "text/xml" }],
    ["GET", "http://h/b/?prefix-a=1&prefix=2&prefix2=3", { authorization: "another" }],
  ])("signs as aws4fetch does: %s %s", async (method, url, headers) => {
    const place = { region: "eu-west-1", keys: new Map<string, Uint8Array>() };
    const twin = new AwsV4Signer({ method, url, headers, service: "s3", region: place.region, ...signer });
    const expected = Object.fromEntries((await twin.sign()).headers);
    for (let i = 0; i < 2; i++)
      expect(await signRequest({ method, url: new URL(url), headers }, signer, place)).toEqual(expected);
    expect(place.keys.size).toBe(1);
  });

  it("signs the host that is sent, by another key the next day, in another region, with another secret", async () => {
    const keys = new Map<string, Uint8Array>();
    const sign = async (region: string, secret: string, url = "http://h/b/k", headers = {}) => {
      const request = { method: "GET", url: new URL(url), headers };
      const by = { accessKeyId: "k", secretAccessKey: secret };
      return (await signRequest(request, by, { region, keys })).authorization;
    };
    const signed = [await sign("a", "secret"), await sign("b", "secret"), await sign("a", "other")];
    expect(await sign("a", "secret", "http://127.0.0.1:9000/b/k", { host: "h" })).toBe(signed[0]);
    vi.setSystemTime(Date.UTC(2026, 1, 4));
    signed.push(await sign("a", "secret"));
    expect([new Set(signed).size, keys.size]).toEqual([4, 4]);
  });

  it.each(["", "abc", "ä".repeat(1000)])("makes the same digests in browsers (%#)", async (text) => {
    const key = Uint8Array.of(1, 2, 3);
    const node = nodeDigests();
    expect(node).toBeDefined();
    expect(await webDigests.sha256(text)).toBe(await node?.sha256(text));
    const hmac = Buffer.from(await webDigests.hmac(key, text));
    expect(hmac).toEqual(Buffer.from((await node?.hmac(key, text)) ?? []));
  });
});

it("elements of an answer are found in order, with what lies in them and their entities replaced", () => {
  expect(elements("<r><a>1</a><b/><a><c>2</c></a></r>", "a")).toEqual(["1", "<c>2</c>"]);
  for (const text of ["<r></r>", "<r><a>cut"]) expect(elements(text, "a")).toEqual([]);
  expect(elementText("<a>&lt;&amp;&quot;&apos;&#64;&#x40;&gt;</a>", "a")).toBe(`<&"'@@>`);
  const unknown = "&unknown;&#99999999;&constructor;";
  expect(elementText(`<a>${unknown}</a>`, "a")).toBe(unknown);
  expect(elementText("<b/>", "a")).toBeUndefined();
  const text = `"<a & 'b'>"`;
  expect(elementText(`<a>${escaped(text)}</a>`, "a")).toBe(text);
});
