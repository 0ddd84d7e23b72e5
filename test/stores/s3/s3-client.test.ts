// @module-tag alone
// @module-tag slow
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { S3Client } from "../../../src/stores/s3/s3-client.ts";
import { isWritable } from "../../../src/stores/store.ts";
import { openStore, parseStoreUrl } from "../../../src/stores/url.ts";
import { keysOf } from "../../support/consume.ts";
import { s3Environment, stubEnvironment } from "../../support/s3-environment.ts";
import { BUCKET, type S3Server, serveBucket } from "../s3-server.ts";

const spec = { kind: "s3", bucket: BUCKET, prefix: "" } as const;
/** Where `setGlobalDispatcher` of the undici that Node contains puts what it is given. */
const DISPATCHER = Symbol.for(
  `undici.globalDispatcher.${Number.parseInt(process.versions.undici ?? "6", 10) >= 8 ? 2 : 1}`,
);

describe("requests to S3", () => {
  let server: S3Server;
  beforeEach(async () => {
    server = await serveBucket();
    stubEnvironment(s3Environment(server.endpoint));
    return async () => {
      vi.unstubAllEnvs();
      vi.unstubAllGlobals();
      await server.close();
    };
  });
  const write = async () => {
    const store = await openStore(spec);
    if (isWritable(store)) await store.set("a", new Uint8Array(1));
  };

  // First, as what S3 needs is loaded by it.
  it("go by a `fetch` that was put in place of the global one before the first store is opened", async () => {
    const seen = vi.fn(globalThis.fetch);
    vi.stubGlobal("fetch", seen);
    await write();
    expect(seen).toHaveBeenCalledOnce();
    expect(server.objects.size).toBe(1);
  });

  it("go by `fetch` where it was configured, such as with a proxy", async () => {
    const requests: string[] = [];
    const abort = new AbortController();
    class ProxyAgent {
      dispatch({ method }: { method: string }): boolean {
        requests.push(method);
        setImmediate(() => abort.abort());
        throw new Error("no proxy");
      }
    }
    const before = Reflect.get(globalThis, DISPATCHER);
    Reflect.set(globalThis, DISPATCHER, new ProxyAgent());
    try {
      const store = await openStore(spec);
      await expect(store.get("a", { signal: abort.signal })).rejects.toThrow();
    } finally {
      Reflect.set(globalThis, DISPATCHER, before);
    }
    expect(requests).toContain("GET");
    expect(server.requests).toEqual([]);
  });
});

describe("buckets that no host name can hold", () => {
  it.each(["tenant:bucket", "name_with_underscore", "OldBucket", "_b_"])(
    "%s stands in the path, signed as the server expects it",
    async (bucket) => {
      const server = await serveBucket({ bucket });
      stubEnvironment({ ...s3Environment(server.endpoint), AWS_VIRTUAL_HOSTED_STYLE_REQUEST: "true" });
      onTestFinished(() => void vi.unstubAllEnvs());
      onTestFinished(() => server.close());
      const { spec, path } = parseStoreUrl(`s3://${bucket}/a b/x.zarr`);
      expect([spec, path]).toEqual([{ kind: "s3", bucket, prefix: "a b/x.zarr" }, ""]);
      const store = await openStore(spec);
      if (!isWritable(store)) throw new Error("not writable");
      await store.set("c/0", Uint8Array.of(1, 2));
      expect([await store.get("c/0"), await store.size("c/0")]).toEqual([Uint8Array.of(1, 2), 2]);
      const copier = await store.copierFrom?.(store);
      expect(await copier?.({ key: "c/0", size: 2 }, "c/1")).toBe(2);
      expect(await keysOf(store)).toEqual(["c/0", "c/1"]);
      expect(store.description).toBe(`s3://${bucket}/a b/x.zarr`);
    },
  );

  it.each([
    ["OldBucket", "https://s3.us-east-1.amazonaws.com/OldBucket/a"],
    ["a_b", "https://s3.us-east-1.amazonaws.com/a_b/a"],
    ["a-b", "https://a-b.s3.us-east-1.amazonaws.com/a"],
  ])("%s is asked at Amazon by %s", (bucket, url) => {
    expect(new S3Client({ bucket, credentials: "anonymous", pathStyle: false }).url("a").href).toBe(url);
  });

  it.each(["a", "a/b", "a b", "a:b:ccc", "user@bucket", "..", ""])("%j is no bucket", (bucket) => {
    expect(() => new S3Client({ bucket, credentials: "anonymous" })).toThrow(
      "this is not a valid bucket name",
    );
  });
});
