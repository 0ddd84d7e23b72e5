// @module-tag alone
import { globalAgent } from "node:http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isWritable } from "../../../src/stores/store.ts";
import { openStore } from "../../../src/stores/url.ts";
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
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    vi.unstubAllGlobals();
    await server.close();
  });
  const write = async () => {
    const store = await openStore(spec);
    if (isWritable(store)) await store.set("a", new Uint8Array(1));
  };

  // First, as what S3 needs is loaded by it.
  it("go by a `fetch` that was put in place of the global one before the first store is opened", async () => {
    const { fetch } = globalThis;
    const seen = vi.fn(fetch);
    vi.stubGlobal("fetch", seen);
    await write();
    expect(seen).toHaveBeenCalledOnce();
    expect(server.objects.size).toBe(1);
  });

  it("go by `fetch` where it was configured, such as with a proxy", async () => {
    const requests: string[] = [];
    class ProxyAgent {
      dispatch({ method }: { method: string }): boolean {
        requests.push(method);
        throw new Error("no proxy");
      }
    }
    const before = Reflect.get(globalThis, DISPATCHER);
    Reflect.set(globalThis, DISPATCHER, new ProxyAgent());
    try {
      const store = await openStore(spec);
      await expect(store.get("a", { signal: AbortSignal.timeout(500) })).rejects.toThrow();
    } finally {
      Reflect.set(globalThis, DISPATCHER, before);
    }
    expect(requests).toContain("GET");
    expect(server.requests).toEqual([]);
  });

  it("go by the process's agent else, as it was configured", async () => {
    await write();
    const { host } = new URL(server.endpoint);
    await expect.poll(() => Object.keys(globalAgent.freeSockets).join()).toContain(`${host}:`);
  });
});
