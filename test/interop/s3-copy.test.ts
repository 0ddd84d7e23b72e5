import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { copy, rechunk } from "../../src/index.ts";
import { stubEnvironment } from "../support/s3-environment.ts";
import { type FaultProxy, proxyTo } from "./fault-proxy.ts";
import { type Bucket, bucketAt, environmentOf, servers } from "./s3-servers.ts";
import { hasShared, shared } from "./shared.ts";
import { filesOf } from "./trees.ts";

const data = `${shared}data/basin-mask.zarr`;

describe.runIf(hasShared).each(servers)("copies to and in $name", ({ openBucket }) => {
  let bucket: Bucket;
  let proxy: FaultProxy;
  let folder: string;
  let source: string;
  let remote: string;
  let tests = 0;

  beforeAll(async () => {
    bucket = await openBucket();
    folder = mkdtempSync(join(tmpdir(), "zarrflow-s3-copy-"));
  });
  beforeEach(async () => {
    source = join(folder, `source-${tests}.zarr`);
    remote = `s3://${bucket.name}/target-${tests++}.zarr`;
    cpSync(data, source, { recursive: true });
    proxy = await proxyTo(bucket.endpoint);
    stubEnvironment(environmentOf(bucketAt(proxy.endpoint, bucket)));
    await copy(source, remote);
    return () => proxy.close();
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
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
    const back = join(folder, `back-${tests++}`);
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
