import { afterEach, describe, expect, it } from "vitest";
import { open, openArray, slice } from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { openStore } from "../../../src/stores/url.ts";
import { BUCKET, serveBucket } from "../../stores/s3-server.ts";
import { type Manners, PAGE, serveValues } from "../../stores/value-server.ts";
import { valuesIn } from "../../support/consume.ts";
import { given } from "../../support/given.ts";
import { s3Environment, stubEnvironment } from "../../support/s3-environment.ts";

const closings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

/** Values of a small array in a group: its last chunk is missing. */
async function valuesOf(zarrFormat: "v2" | "v3", attributes = {}): Promise<Map<string, Uint8Array>> {
  const grid = { chunks: [2], dataType: "uint8", codecs: [], fillValue: 9 };
  const a = { ...grid, attributes, values: [1, 2, 3, 4, 9, 9] };
  return valuesIn(await given({ zarrFormat, arrays: { a } }));
}

async function serve(values: Map<string, Uint8Array>, manners: Manners) {
  const server = await serveValues(values, manners);
  closings.push(() => server.close());
  return server;
}

const first = async (url: string, options = {}) =>
  [...(await slice(await openArray(url, options), [[0, 4]]).read()).data].join();

describe.each(["v2", "v3"] as const)("an array of %s", (format) => {
  it.each(["denied", "page", "unnamed page"] as const)(
    "is opened where other documents are %s",
    async (missing) => {
      const values = await valuesOf(format, { units: "K" });
      const { url } = await serve(values, { missing });
      const array = await openArray(`${url}/a`);
      expect(array.layout.zarrFormat).toBe(format);
      expect(array.metadata.attributes).toEqual({ units: "K" });
      expect(await first(`${url}/a`)).toBe("1,2,3,4");
    },
  );

  it("fails with the way out where a missing chunk cannot be told", async () => {
    const values = await valuesOf(format, { units: "K" });
    const denied = await serve(values, { missing: "denied" });
    const all = async (url: string, options = {}) =>
      [...(await slice(await openArray(url, options)).read()).data].join();
    await expect(all(`${denied.url}/a`)).rejects.toMatchObject({
      code: "access-denied",
      details: { hint: expect.stringContaining("--missing-403") },
    });
    expect(await all(`${denied.url}/a`, { missing403: true })).toBe("1,2,3,4,9,9");
    const page = await serve(values, { missing: "page" });
    await expect(all(`${page.url}/a`)).rejects.toMatchObject({
      code: "access-denied",
      message: expect.stringContaining("an HTML page instead of the value"),
      details: { hint: expect.stringContaining("404") },
    });
  });
});

it("an array of v2 without attributes is opened where pages stand for what is missing, and says so", async () => {
  const values = await valuesOf("v2");
  values.delete("a/.zattrs");
  const { url } = await serve(values, { missing: "page" });
  const { findings } = await openArray(`${url}/a`);
  expect(findings.map(({ message }) => message)).toEqual([
    expect.stringContaining(".zattrs is an HTML page"),
  ]);
});

it("a place with nothing but pages is no node, and the error says what the server does", async () => {
  const { url } = await serve(new Map(), { missing: "page" });
  await expect(open(`${url}/no.zarr`)).rejects.toMatchObject({
    code: "access-denied",
    message: expect.stringContaining("HTML page"),
  });
  const folder = new MemoryStore();
  await folder.set("zarr.json", new TextEncoder().encode(PAGE));
  await expect(open(folder)).rejects.toMatchObject({ code: "invalid-metadata" });
});

it("a place where all is denied names --missing-403", async () => {
  const { url } = await serve(new Map(), { missing: "denied" });
  await expect(open(`${url}/no.zarr`)).rejects.toMatchObject({
    code: "access-denied",
    details: { hint: expect.stringContaining("--missing-403") },
  });
});

it("an array in a bucket that cannot be listed is opened", async () => {
  const server = await serveBucket();
  closings.push(() => server.close());
  stubEnvironment(s3Environment(server.endpoint));
  const values = await valuesOf("v3");
  for (const [key, bytes] of values) server.objects.set(key, Buffer.from(bytes));
  server.fault = (response, { key, method }) => {
    if (server.objects.has(key) && method === "GET") return false;
    response.writeHead(403).end(method === "HEAD" ? undefined : "<Error><Code>AccessDenied</Code></Error>");
    return true;
  };
  expect(await first(`s3://${BUCKET}/a`)).toBe("1,2,3,4");
  await expect(slice(await openArray(`s3://${BUCKET}/a`)).read()).rejects.toMatchObject({
    code: "access-denied",
    details: { hint: expect.stringMatching(/--missing-403.*AWS_REQUEST_PAYER/) },
  });
  const store = await openStore({ kind: "s3", bucket: BUCKET, prefix: "" });
  expect(await store.size("a/c/0")).toBe(2);
  expect(await store.ageOf?.("a/c/0")).toBeUndefined();
});
