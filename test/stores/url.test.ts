import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { copy } from "../../src/index.ts";
import { MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import type { StoreSpec } from "../../src/stores/store.ts";
import { childSpec, parentSpec } from "../../src/stores/store-spec.ts";
import { openStore, parseStoreUrl } from "../../src/stores/url.ts";
import { zipInStore } from "../../src/stores/zip.ts";
import { isZarrflowError } from "../../src/util/errors.ts";
import { keysOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { serveValues } from "./value-server.ts";

const directory = (path: string) => ({ kind: "directory", path }) as const;
const zip = (path: string) => ({ kind: "zip", path }) as const;
const http = (url: string) => ({ kind: "http", url }) as const;
const s3 = (prefix: string) => ({ kind: "s3", bucket: "bucket", prefix }) as const;
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
    ["memory:x|zip:", "unsupported-operation"],
    ["memory:x/../y", "path-not-allowed"],
    ["file://server/share/x.zarr", "invalid-option"],
    ["file:///a%2Fb", "invalid-option"],
    ["file:///a%zz", "invalid-option"],
    ["file:///a?b", "invalid-option"],
    ["file:///data/x.zip#t2m", "invalid-option"],
    ["file:/data/x.zarr", "invalid-option", "file: must be followed by two slashes"],
    ["file:/data/x.zarr", "invalid-option", "Did you mean `file:///data/x.zarr`?"],
    ["/data/x.zarr#t2m", "invalid-option"],
    ["/data/x.zip/../../etc", "path-not-allowed"],
    ["/data/x|gzip:", "unsupported-operation", "Known stages are zip:"],
    ["/data/x|zarr3:a|zip:b", "unsupported-operation"],
    ["x.zip#t2m", "invalid-option", "Write x.zip/t2m."],
    ["zip::s3://bucket/x.zip", "invalid-option", "Write s3://bucket/x.zip|zip:"],
    ["zip://t2m::/data/x.zip", "invalid-option", "Write /data/x.zip|zip:t2m"],
    ["zip://b::zip://a.zip::/data/x.zip", "invalid-option", "Write /data/x.zip|zip:a.zip|zip:b"],
    ["simplecache::https://host/x", "invalid-option", "Write https://host/x; "],
    ["simplecache::zip::s3://bucket/x.zip", "invalid-option", "Write s3://bucket/x.zip|zip:; "],
    ["reference::s3://bucket/refs.json", "invalid-option", "The scheme reference is unknown"],
    ["http:/host/x.zarr", "invalid-option", "Did you mean `http://host/x.zarr`?"],
    ["http://127.0.0.1:99999/x.zarr", "invalid-option", "this is not a valid URL: its port is `99999`"],
    ["http://host:port/x.zarr", "invalid-option", "this is not a valid URL: its port is `port`"],
    ["https://a b/x.zarr", "invalid-option", "this is not a valid URL: its host is `a b`"],
    ["https:/host/x.zarr", "invalid-option", "https: must be followed by two slashes"],
    ["https://user:word@host/x.zarr", "invalid-option", "this URL must not contain a password"],
    ["https://user:word@host:99999/x.zarr", "invalid-option", "this URL must not contain a password"],
    ["https://user@a b/x.zarr", "invalid-option", "this URL must not contain a password"],
    ["https://host/x.zip|zip:a?token=1", "invalid-option", "in this place"],
    ["https://host/x.zip/%zz", "invalid-option"],
    ["https://host|zip:", "unsupported-operation"],
    ["https://host/x#t2m", "invalid-option"],
    ["https://host/x.zarr#mode=zarr,s3", "invalid-option", "Write https://host/x.zarr."],
    ["s3://", "invalid-option"],
    ["s3:/bucket/x.zarr", "invalid-option", "s3: must be followed by two slashes"],
    ["s3:/bucket/x.zarr", "invalid-option", "Did you mean `s3://bucket/x.zarr`?"],
    ["s3://bucket/a/../b", "path-not-allowed"],
    ["s3://bucket/x.zip#/t2m", "invalid-option", "Write s3://bucket/x.zip/t2m."],
    ["s3a://bucket/x", "unsupported-operation", "Write s3://bucket/x"],
    [
      "gs://bucket/x.zarr",
      "unsupported-operation",
      "s3://bucket/x.zarr with AWS_ENDPOINT_URL=https://storage.googleapis.com",
    ],
    ["gs://bucket/x.zarr", "unsupported-operation", "https://storage.googleapis.com/bucket/x.zarr"],
    ["az://a/x.zarr", "unsupported-operation", "https://ACCOUNT.blob.core.windows.net/a/x.zarr"],
    ["abfs://a@me.dfs.core.windows.net/x", "unsupported-operation", "https://me.blob.core.windows.net/a/x"],
    ["hf://datasets/me/a/x", "unsupported-operation", "https://huggingface.co/datasets/me/a/resolve/main/x"],
    ["hf://me/model@v1/x", "unsupported-operation", "https://huggingface.co/me/model/resolve/v1/x"],
    ["r2://bucket/x.zarr", "unsupported-operation", "s3://bucket/x.zarr with AWS_ENDPOINT_URL"],
    ["sftp://host/x.zarr", "unsupported-operation", "Supported are paths"],
    ["constructor://host/x.zarr", "unsupported-operation", "Supported are paths"],
  ])("refuses %j: %s, and says %s", (text, code, words = "") => {
    let error: unknown;
    try {
      parseStoreUrl(text);
    } catch (failure) {
      error = failure;
    }
    if (!isZarrflowError(error)) throw new Error("no error of ours", { cause: error });
    expect(error.code).toBe(code);
    expect(`${error.reason}\n${error.details.hint}`).toContain(words);
  });
});

describe("folders around a store", () => {
  it.each<[StoreSpec, StoreSpec, string]>([
    [directory("/a/b c"), directory("/a"), "b c"],
    [directory("/a"), directory("/"), "a"],
    [directory("C:/a"), directory("C:/"), "a"],
    [http("http://h:8/a/b%20c"), http("http://h:8/a"), "b c"],
    [http("http://h:8/a"), http("http://h:8"), "a"],
    [http("http://h/%zz"), http("http://h"), "%zz"],
    [s3("x/y"), s3("x"), "y"],
    [s3("x"), s3(""), "x"],
  ])("%j is split into the folder around it and its name", (spec, outer, name) => {
    expect(parentSpec(spec)).toEqual({ spec: outer, name });
    if (name !== "%zz") expect(childSpec(outer, name)).toEqual(spec);
  });

  const ends = [directory("/"), directory("C:/"), http("http://h"), s3(""), zip("/a.zip")];
  it.each<StoreSpec>([...ends, { kind: "memory", name: "m" }])("end at %j", (spec) => {
    expect(parentSpec(spec)).toBeUndefined();
    if (spec.kind === "zip") expect(childSpec(spec, "x")).toBeUndefined();
  });
});

describe("openStore", () => {
  const folder = temporaryFolder();
  const ONE = new Uint8Array(1);
  const NOT_FOUND = { code: "not-found" };

  it("opens directories, also those that are not there", async () => {
    const root = folder.next();
    const store = await openStore(directory(root));
    expect(await store.get(".zgroup")).toBeUndefined();
    fs.mkdirSync(root, { recursive: true });
    fs.writeFileSync(join(root, ".zgroup"), "{}");
    expect(await store.size(".zgroup")).toBe(2);
    expect(store.description).toBe(`directory ${root}`);
  });

  it("opens stores in memory by name, and zips that are files, or values of other stores", async () => {
    const outer = new MemoryStore("outer");
    nameMemoryStore("url-zip", outer);
    const around = { kind: "memory", name: "url-zip" } as const;
    expect(await openStore(around)).toBe(outer);
    await copy(await given({ dataType: "int8", values: [] }), zipInStore(outer, "data/x.zip"));
    const path = folder.next("x.zip");
    fs.mkdirSync(dirname(path), { recursive: true });
    fs.writeFileSync(path, (await outer.get("data/x.zip")) ?? "");
    const value = { kind: "zip-value", store: around } as const;
    for (const [spec, description] of [
      [zip(path), `zip ${path}`],
      [{ ...value, key: "data/x.zip" }, "zip outer/data/x.zip"],
    ] as const) {
      const store = await openStore(spec);
      expect([await keysOf(store), store.description]).toEqual([["zarr.json"], description]);
      await store.close?.();
    }
    await expect(openStore({ ...value, key: "none.zip" })).rejects.toMatchObject(NOT_FOUND);
    nameMemoryStore("url-zip", undefined);
  });

  it("opens web servers, and asks again where they failed for now", async () => {
    const server = await serveValues(new Map([["x.zarr/a/0", ONE]]));
    onTestFinished(() => server.close());
    server.faults.push((response) => !!response.writeHead(503).end());
    const store = await openStore(http(`${server.url}/x.zarr`));
    expect(await store.get("a/0")).toEqual(ONE);
    expect(server.requests).toHaveLength(2);
  });

  it("says what is not there, and what cannot be opened", async () => {
    const nobody = { kind: "memory", name: "nobody" } as const;
    for (const spec of [zip(folder.next("x.zip")), nobody])
      await expect(openStore(spec)).rejects.toMatchObject(NOT_FOUND);
    for (const spec of [{ kind: "object", description: "mine" }, JSON.parse('{ "kind": "constructor" }')])
      await expect(openStore(spec)).rejects.toMatchObject({ code: "invalid-option" });
    const signal = AbortSignal.abort("enough");
    await expect(openStore(nobody, { signal })).rejects.toMatchObject({ code: "aborted", cause: "enough" });
  });
});
