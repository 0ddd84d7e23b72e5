import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openS3 } from "../../../src/stores/s3/open-s3.ts";
import { s3Environment, stubEnvironment as set } from "../../support/s3-environment.ts";
import { ACCESS_KEY, BUCKET, type S3Server, SECRET_KEY, serveBucket } from "../s3-server.ts";

const spec = { kind: "s3", bucket: BUCKET, prefix: "" } as const;

describe("openS3", () => {
  let server: S3Server;
  let folder: string;
  beforeEach(async () => {
    server = await serveBucket();
    folder = await mkdtemp(join(tmpdir(), "zarrflow-s3-"));
    for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) vi.stubEnv(name, undefined);
    set({
      ...s3Environment(server.endpoint),
      AWS_CONFIG_FILE: join(folder, "config"),
      AWS_SHARED_CREDENTIALS_FILE: join(folder, "credentials"),
      AWS_EC2_METADATA_DISABLED: "true",
    });
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await server.close();
    await rm(folder, { recursive: true });
  });
  /** The headers of a write and of a read. */
  const headersSent = async () => {
    const store = await openS3(spec);
    await store.set("a", new Uint8Array(1));
    await store.get("a");
    return server.requests.map(({ headers }) => headers);
  };

  it("takes credentials and the endpoint from variables, that of S3 alone first", async () => {
    set({ AWS_ENDPOINT_URL: "http://127.0.0.1:1", AWS_ENDPOINT_URL_S3: server.endpoint });
    await (await openS3(spec)).set("a", new Uint8Array(1));
    expect(server.objects.size).toBe(1);
  });

  it("takes them from a profile", async () => {
    set({ AWS_ENDPOINT_URL: "", AWS_ACCESS_KEY_ID: undefined, AWS_PROFILE: "science" });
    const keys = `aws_access_key_id = ${ACCESS_KEY}\naws_secret_access_key = ${SECRET_KEY}\n`;
    await writeFile(join(folder, "credentials"), `[science]\n${keys}`);
    await writeFile(join(folder, "config"), `[profile science]\nendpoint_url = ${server.endpoint}\n`);
    await (await openS3(spec)).set("a", new Uint8Array(1));
    expect(server.objects.size).toBe(1);
    set({ AWS_PROFILE: "none" });
    await expect(openS3(spec)).rejects.toMatchObject({ code: "invalid-option", exitCode: 2 });
  });

  it("is anonymous where an option says so, in spite of credentials", async () => {
    const store = await openS3({ ...spec, anonymous: true });
    await expect(store.get("a")).rejects.toMatchObject({ code: "access-denied" });
    expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
  });

  it("takes 403 for a missing key where an option says so", async () => {
    const store = await openS3({ ...spec, anonymous: true, missing403: true });
    expect(await store.get("a")).toBeUndefined();
  });

  it("asks as often as an option says", async () => {
    set({ AWS_MAX_ATTEMPTS: "2" });
    server.fault = (response) => response.writeHead(503).end() !== undefined;
    await expect((await openS3(spec)).set("a", new Uint8Array(1))).rejects.toMatchObject({
      code: "transient",
    });
    expect(server.requests).toHaveLength(2);
    set({ AWS_MAX_ATTEMPTS: "0" });
    await expect(openS3(spec)).rejects.toMatchObject({ code: "invalid-option" });
  });

  it("lets the caller pay", async () => {
    set({ AWS_REQUEST_PAYER: "requester" });
    for (const headers of await headersSent()) expect(headers["x-amz-request-payer"]).toBe("requester");
  });

  it("encrypts as variables say", async () => {
    set({ AWS_SSE_KMS_KEY_ID: "key", AWS_SSE_BUCKET_KEY_ENABLED: "true" });
    const [put, get] = await headersSent();
    expect(put).toMatchObject({
      "x-amz-server-side-encryption": "aws:kms",
      "x-amz-server-side-encryption-aws-kms-key-id": "key",
      "x-amz-server-side-encryption-bucket-key-enabled": "true",
    });
    expect(Object.keys(get ?? {}).join()).not.toContain("encryption");
  });

  it("encrypts by a customer's key", async () => {
    set({ AWS_SSE_CUSTOMER_KEY_BASE64: "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=" });
    for (const headers of await headersSent()) {
      expect(headers).toMatchObject({
        "x-amz-server-side-encryption-customer-algorithm": "AES256",
        "x-amz-server-side-encryption-customer-key": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
        "x-amz-server-side-encryption-customer-key-md5": "KYvwGXoFFJ42a2u2GDWhwQ==",
      });
    }
  });

  it("asks the bucket's own host where an option says so", async () => {
    set({ AWS_VIRTUAL_HOSTED_STYLE_REQUEST: "true" });
    vi.stubEnv("AWS_ENDPOINT_URL", `http://localhost:${new URL(server.endpoint).port}`);
    const hosts: string[] = [];
    vi.stubGlobal("fetch", async (url: URL) => {
      hosts.push(`${url.hostname}${url.pathname}`);
      return new Response(null, { status: 200, headers: { "content-length": "3" } });
    });
    try {
      expect(await (await openS3(spec)).size("a/b")).toBe(3);
    } finally {
      vi.unstubAllGlobals();
    }
    expect(hosts).toEqual([`${BUCKET}.localhost/a/b`]);
  });
});
