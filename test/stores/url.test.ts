import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import { openStore, parseStoreUrl } from "../../src/stores/url.ts";
import { ZipWriter } from "../../src/stores/zip.ts";
import { MemorySink } from "./memory-sink.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { serveValues } from "./value-server.ts";

const directory = (path: string) => ({ kind: "directory", path });
const zip = (path: string) => ({ kind: "zip", path });
const http = (url: string) => ({ kind: "http", url });
const s3 = (prefix: string) => ({ kind: "s3", bucket: "bucket", prefix });
const zipValue = (store: object, key: string) => ({ kind: "zip-value", store, key });

describe("parseStoreUrl", () => {
  it.each([
    ["/data/x.zarr", directory("/data/x.zarr"), ""],
    ["/data/x.zarr/t2m/", directory("/data/x.zarr/t2m"), ""],
    ["/data//./y/../x.zarr", directory("/data/x.zarr"), ""],
    ["x.zarr", directory(join(process.cwd(), "x.zarr")), ""],
    ["./x.zarr/t2m", directory(join(process.cwd(), "x.zarr/t2m")), ""],
    ["../x.zarr", directory(join(dirname(process.cwd()), "x.zarr")), ""],
    ["a:b.zarr", directory(join(process.cwd(), "a:b.zarr")), ""],
    ["C:\\data\\x.zarr\\t2m", directory("C:/data/x.zarr/t2m"), ""],
    ["c:/data/../x.zip/t2m/a", zip("c:/x.zip"), "t2m/a"],
    ["C:\\data\\x.zip\\t2m", zip("C:/data/x.zip"), "t2m"],
    ["file:///data/x.zarr%23old", directory("/data/x.zarr#old"), ""],
    ["/data/Dir#1/x.zarr", directory("/data/Dir#1/x.zarr"), ""],
    ["file:///data/a%20b.zarr", directory("/data/a b.zarr"), ""],
    ["file://localhost/data/x.zarr", directory("/data/x.zarr"), ""],
    ["FILE:///C:/data/x.zarr", directory("C:/data/x.zarr"), ""],
    ["/data/x.zarr.zip", zip("/data/x.zarr.zip"), ""],
    ["/data/x.zarr.zip/t2m/a", zip("/data/x.zarr.zip"), "t2m/a"],
    ["/data/x.ozx/0/", zip("/data/x.ozx"), "0"],
    ["/data/X.ZIP//t2m", zip("/data/X.ZIP"), "t2m"],
    ["/data/x.zip/y.zip", zip("/data/x.zip"), "y.zip"],
    ["/data/zip/x", directory("/data/zip/x"), ""],
    ["file:///data/x.zip/t2m", zip("/data/x.zip"), "t2m"],
    ["memory:era5", { kind: "memory", name: "era5" }, ""],
    ["memory://era5/t2m/", { kind: "memory", name: "era5" }, "t2m"],
    ["/data/archive|zip:", zip("/data/archive"), ""],
    ["/data/archive|zip:inner/path", zip("/data/archive"), "inner/path"],
    ["/data/x.zip|zip:t2m", zip("/data/x.zip"), "t2m"],
    ["/data/a|b.zarr", directory("/data/a|b.zarr"), ""],
    ["https://host/data/x.zarr/", http("https://host/data/x.zarr"), ""],
    ["HTTP://Host:8080/a%20b", http("http://host:8080/a%20b"), ""],
    ["https://host", http("https://host"), ""],
    ["https://host/x.zarr/t2m?token=1", { ...http("https://host/x.zarr/t2m"), hasQuery: true }, ""],
    ["https://host/x.zarr?", http("https://host/x.zarr"), ""],
    ["https://host/x.zip/t2m?a=/b/", zipValue({ ...http("https://host"), hasQuery: true }, "x.zip"), "t2m"],
    [
      "https://host/data/x%20y.zarr.zip/t2m%2b/a",
      zipValue(http("https://host/data"), "x y.zarr.zip"),
      "t2m+/a",
    ],
    ["https://host/archive|zip:inner", zipValue(http("https://host"), "archive"), "inner"],
    ["https://host/x.zip|zip:inner", zipValue(http("https://host"), "x.zip"), "inner"],
    ["s3://bucket/data//x.zarr/", s3("data/x.zarr"), ""],
    ["s3://bucket", s3(""), ""],
    ["s3://bucket/a/x.zarr.zip/t2m", zipValue(s3("a"), "x.zarr.zip"), "t2m"],
    ["s3://bucket/archive|zip:inner", zipValue(s3(""), "archive"), "inner"],
    ["s3://bucket/a/b|zip:", zipValue(s3("a"), "b"), ""],
    ["s3://bucket/x.zip|zip:group/t2m", zipValue(s3(""), "x.zip"), "group/t2m"],
    ["/data/x.zip|zip:a.zip|zip:b", zipValue(zip("/data/x.zip"), "a.zip"), "b"],
    ["s3://bucket/x.zip/a|zip:b", zipValue(zipValue(s3(""), "x.zip"), "a"), "b"],
    ["memory:x/a.zip|zip:inner", zipValue({ kind: "memory", name: "x" }, "a.zip"), "inner"],
  ])("of %s", (text, spec, path) => {
    expect(parseStoreUrl(text)).toEqual({ spec, path });
  });

  it.each([
    ["/data/x.zarr|zarr3:t2m", directory("/data/x.zarr"), "t2m", "v3"],
    ["/data/x.zarr|zarr2:", directory("/data/x.zarr"), "", "v2"],
    ["/data/x.zarr|zarr1:", directory("/data/x.zarr"), "", "v1"],
    ["/data/x.zip|zip:inner|zarr3-draft-2019:a/b", zip("/data/x.zip"), "inner/a/b", "v3-draft-2019"],
    ["memory:x|zarr2:t", { kind: "memory", name: "x" }, "t", "v2"],
  ])("of %s, with its format", (text, spec, path, zarrFormat) => {
    expect(parseStoreUrl(text)).toEqual({ spec, path, zarrFormat });
  });

  it.each([
    ["", "invalid-option"],
    ["memory:", "invalid-option"],
    ["file://server/share/x.zarr", "invalid-option"],
    ["file:///a%2Fb", "invalid-option"],
    ["file:///a%zz", "invalid-option"],
    ["file:///a?b", "invalid-option"],
    ["zip::s3://bucket/x.zip", "invalid-option"],
    ["zip://inner::/data/x.zip", "invalid-option"],
    ["simplecache::https://host/x", "invalid-option"],
    ["s3://", "invalid-option"],
    ["gs://bucket/x.zarr", "unsupported-operation"],
    ["s3://bucket/a/../b", "path-not-allowed"],
    ["https://host/x.zip|zip:a?token=1", "invalid-option"],
    ["https://user:word@host/x.zarr", "invalid-option"],
    ["https://host/x.zip/%zz", "invalid-option"],
    ["https://host|zip:", "unsupported-operation"],
    ["/data/x|gzip:", "unsupported-operation"],
    ["/data/x|zarr3:a|zip:b", "unsupported-operation"],
    ["/data/x.zarr#t2m", "invalid-option"],
    ["file:///data/x.zip#t2m", "invalid-option"],
    ["https://host/x#t2m", "invalid-option"],
    ["memory:x|zip:", "unsupported-operation"],
    ["/data/x.zip/../../etc", "path-not-allowed"],
    ["memory:x/../y", "path-not-allowed"],
  ])("refuses %j: %s", (text, code) => {
    expect(() => parseStoreUrl(text)).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    ["http://127.0.0.1:99999/x.zarr", "this is not a valid URL: its port is `99999`"],
    ["http://host:port/x.zarr", "this is not a valid URL: its port is `port`"],
    ["https://a b/x.zarr", "this is not a valid URL: its host is `a b`"],
    ["https://user:word@host:99999/x.zarr", "this URL must not contain a password"],
    ["https://user@a b/x.zarr", "this URL must not contain a password"],
    ["https:/host/x.zarr", "https: must be followed by two slashes"],
    ["s3:/bucket/x.zarr", "s3: must be followed by two slashes"],
    ["file:/data/x.zarr", "file: must be followed by two slashes"],
  ])("says what is wrong with %s", (text, reason) => {
    expect(() => parseStoreUrl(text)).toThrow(
      expect.objectContaining({ code: "invalid-option", reason: expect.stringContaining(reason) }),
    );
  });

  it.each([
    ["http:/host/x.zarr", "Did you mean `http://host/x.zarr`?"],
    ["s3:/bucket/x.zarr", "Did you mean `s3://bucket/x.zarr`?"],
    ["file:/data/x.zarr", "Did you mean `file:///data/x.zarr`?"],
    ["zip::s3://bucket/x.zip", "Write s3://bucket/x.zip|zip:"],
    ["zip://t2m::/data/x.zip", "Write /data/x.zip|zip:t2m"],
    ["zip://b::zip://a.zip::/data/x.zip", "Write /data/x.zip|zip:a.zip|zip:b"],
    ["simplecache::https://host/x", "Write https://host/x; "],
    ["simplecache::zip::s3://bucket/x.zip", "Write s3://bucket/x.zip|zip:; "],
    ["reference::s3://bucket/refs.json", "The scheme reference is unknown"],
    ["x.zip#t2m", "Write x.zip/t2m;"],
    ["s3://bucket/x.zip#/t2m", "Write s3://bucket/x.zip/t2m;"],
    ["https://host/x.zarr#mode=zarr,s3", "Write https://host/x.zarr;"],
    ["s3a://bucket/x", "Write s3://bucket/x"],
    ["gs://bucket/x.zarr", "s3://bucket/x.zarr with AWS_ENDPOINT_URL=https://storage.googleapis.com"],
    ["gs://bucket/x.zarr", "https://storage.googleapis.com/bucket/x.zarr"],
    ["az://container/x.zarr", "https://ACCOUNT.blob.core.windows.net/container/x.zarr"],
    ["abfs://container@me.dfs.core.windows.net/x.zarr", "https://me.blob.core.windows.net/container/x.zarr"],
    ["hf://datasets/me/data/x.zarr", "https://huggingface.co/datasets/me/data/resolve/main/x.zarr"],
    ["hf://me/model@v1/x.zarr", "https://huggingface.co/me/model/resolve/v1/x.zarr"],
    ["r2://bucket/x.zarr", "s3://bucket/x.zarr with AWS_ENDPOINT_URL"],
    ["sftp://host/x.zarr", "Supported are paths"],
    ["constructor://host/x.zarr", "Supported are paths"],
    ["/data/x|gzip:", "Known stages are zip:"],
  ])("reports the way out of %s", (text, hint) => {
    expect(() => parseStoreUrl(text)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ hint: expect.stringContaining(hint) }) }),
    );
  });
});

describe("openStore", () => {
  const folder = temporaryFolder();

  it("opens directories, also those that are not there", async () => {
    const root = folder.next();
    const store = await openStore({ kind: "directory", path: root });
    expect(await store.get(".zgroup")).toBeUndefined();
    fs.mkdirSync(root, { recursive: true });
    fs.writeFileSync(join(root, ".zgroup"), "{}");
    expect(await store.size(".zgroup")).toBe(2);
    expect(store.description).toBe(`directory ${root}`);
  });

  it("opens zips", async () => {
    const path = folder.next("x.zip");
    const sink = new MemorySink();
    const writer = new ZipWriter(sink, "zip x");
    await writer.set("a/0", new Uint8Array([1, 2]));
    await writer.finish();
    fs.mkdirSync(dirname(path), { recursive: true });
    fs.writeFileSync(path, sink.bytes);
    const store = await openStore({ kind: "zip", path });
    expect(await store.get("a/0")).toEqual(new Uint8Array([1, 2]));
    expect(store.description).toBe(`zip ${path}`);
    await store.close?.();
  });

  it("opens zips that are values of other stores", async () => {
    const outer = new MemoryStore("outer");
    const sink = new MemorySink();
    const writer = new ZipWriter(sink, "zip x");
    await writer.set("a/0", new Uint8Array([1, 2]));
    await writer.finish();
    await outer.set("data/x.zip", sink.bytes);
    nameMemoryStore("url-zip", outer);
    const spec = { kind: "zip-value", store: { kind: "memory", name: "url-zip" } } as const;
    const store = await openStore({ ...spec, key: "data/x.zip" });
    expect(await store.get("a/0")).toEqual(new Uint8Array([1, 2]));
    expect(store.description).toBe("zip outer/data/x.zip");
    await expect(openStore({ ...spec, key: "none.zip" })).rejects.toMatchObject({ code: "not-found" });
    nameMemoryStore("url-zip", undefined);
  });

  it("opens web servers, and asks again where they failed for now", async () => {
    const server = await serveValues(new Map([["x.zarr/a/0", new Uint8Array([1, 2])]]));
    try {
      server.faults.push((response) => {
        response.writeHead(503).end();
        return true;
      });
      const store = await openStore({ kind: "http", url: `${server.url}/x.zarr` });
      expect(await store.get("a/0")).toEqual(new Uint8Array([1, 2]));
      expect(server.requests).toHaveLength(2);
    } finally {
      await server.close();
    }
  });

  it("opens stores in memory by name", async () => {
    const store = new MemoryStore();
    nameMemoryStore("url-test", store);
    expect(await openStore({ kind: "memory", name: "url-test" })).toBe(store);
    nameMemoryStore("url-test", undefined);
  });

  it("says what is not there, and what cannot be opened", async () => {
    await expect(openStore({ kind: "zip", path: folder.next("x.zip") })).rejects.toMatchObject({
      code: "not-found",
    });
    await expect(openStore({ kind: "memory", name: "nobody" })).rejects.toMatchObject({ code: "not-found" });
    for (const spec of [{ kind: "object", description: "mine" }, JSON.parse('{ "kind": "constructor" }')]) {
      await expect(openStore(spec)).rejects.toMatchObject({ code: "invalid-option" });
    }
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    await expect(openStore({ kind: "memory", name: "nobody" }, { signal })).rejects.toMatchObject({
      code: "aborted",
      cause: reason,
    });
  });
});
