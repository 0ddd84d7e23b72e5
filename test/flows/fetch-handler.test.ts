import { describe, expect, it, vi } from "vitest";
import { storeHandler } from "../../src/flows/fetch-handler.ts";
import { asStore, copy, EXIT_CODES, HTTP_STATUS, toFetchHandler } from "../../src/index.ts";
import { MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import type { Store } from "../../src/stores/store.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
import { valuesIn } from "../support/consume.ts";
import { given, givenKeys } from "../support/given.ts";
import { until } from "../support/until.ts";

const VALUE = Uint8Array.from({ length: 3000 }, (_, i) => i % 251);
const MIB = 2 ** 20;
const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer());
const requestOf = (path: string, init: RequestInit = {}) => new Request(`http://127.0.0.1/${path}`, init);
const wordsOf = async (response: Response) => [response.status, await response.text()];

/** A handler of a store with one value of its own, and what it failed with. */
async function handlerOf(value = VALUE, maxBytes = 2 * MIB) {
  const memory = new MemoryStore();
  await memory.set("a/0.0", value);
  const failures: unknown[] = [];
  const version = `${value.length}-1`;
  const store: Store = {
    description: "memory",
    get: (key, { ifVersion: _, ...options } = {}) => memory.get(key, options),
    size: async (key, options) => {
      options?.onVersion?.(version);
      return memory.size(key);
    },
  };
  const handle = storeHandler(async () => store, { maxBytes, onFailure: (error) => failures.push(error) });
  const ask = (headers: Record<string, string> = {}, method = "GET", path = "a/0.0") =>
    handle(requestOf(path, { method, headers }));
  return { ask, failures, etag: `"${version}"`, store, handle };
}

/** A handler of a store that fails, and what it answers. */
async function failureOf(error: unknown, onFailure: (error: unknown) => void) {
  const store: Store = { description: "failing", get: () => Promise.reject(error), size: async () => 10 };
  return wordsOf(await storeHandler(async () => store, { maxBytes: 100, onFailure })(requestOf("a")));
}

describe("storeHandler", () => {
  it("gives values whole, with length, type and entity tag, to pages of any origin", async () => {
    const { ask, etag } = await handlerOf();
    const response = await ask();
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      etag,
      "content-length": "3000",
      "content-type": "application/octet-stream",
      "accept-ranges": "bytes",
      "access-control-allow-origin": "*",
      "access-control-expose-headers": expect.stringMatching(/Content-Range.*ETag/),
    });
    expect(await bytesOf(response)).toEqual(VALUE);
  });

  it.each([
    ["bytes=0-9", 206, "bytes 0-9/3000"],
    ["bytes=2990-", 206, "bytes 2990-2999/3000"],
    ["bytes=2990-5000", 206, "bytes 2990-2999/3000"],
    ["bytes=-7", 206, "bytes 2993-2999/3000"],
    ["bytes=-5000", 206, "bytes 0-2999/3000"],
    ...["bytes=3000-", "bytes=-0", "bytes=9000-9001"].map((range) => [range, 416, "bytes */3000"] as const),
    ...["bytes=0-1,5-6", "bytes=9-2", "items=0-1", "bytes=-", "bytes=a-b"].map(
      (range) => [range, 200, null] as const,
    ),
  ] as const)("answers the range %s with %s: %s", async (range, status, content) => {
    const { ask } = await handlerOf();
    const response = await ask({ range });
    expect([response.status, response.headers.get("content-range")]).toEqual([status, content]);
    const [, start = 0, end = 2999] = /(\d+)-(\d+)/.exec(content ?? "")?.map(Number) ?? [];
    if (status !== 416) expect(await bytesOf(response)).toEqual(VALUE.slice(start, end + 1));
  });

  it("answers conditions", async () => {
    const { ask, etag } = await handlerOf();
    for (const list of [etag, `W/${etag}`, `"x", ${etag}`, "*"])
      expect((await ask({ "if-none-match": list })).status).toBe(304);
    expect((await ask({ "if-none-match": '"x"' })).status).toBe(200);
    const range = "bytes=0-9";
    expect((await ask({ range, "if-range": etag })).status).toBe(206);
    for (const other of ['"x"', `W/${etag}`])
      expect((await ask({ range, "if-range": other })).status).toBe(200);
  });

  it("answers HEAD and OPTIONS, and no other method", async () => {
    const { ask } = await handlerOf();
    const head = await ask({}, "HEAD");
    expect([head.status, head.headers.get("content-length"), head.body]).toEqual([200, "3000", null]);
    const options = await ask({}, "OPTIONS");
    expect(options.status).toBe(204);
    expect(options.headers.get("access-control-allow-headers")).toContain("Range");
    expect(options.headers.get("access-control-allow-methods")).toBe("GET, HEAD, OPTIONS");
    for (const method of ["POST", "PUT", "DELETE"]) expect((await ask({}, method)).status).toBe(405);
  });

  it("finds nothing where nothing is, and no way out", async () => {
    const { ask, failures } = await handlerOf();
    const dots = "a%2f..%2f..%2fetc%2fpasswd";
    for (const path of ["", "b", "a", "a/", dots, "a%00b", "a%5cb", "x".repeat(5000)])
      expect((await ask({}, "GET", path)).status, path).toBe(404);
    expect((await ask({}, "GET", "%ff")).status).toBe(400);
    expect(failures).toEqual([]);
  });

  it("sends large values in pieces that the budget holds, one client after the other", async () => {
    const large = Uint8Array.from({ length: 5 * MIB + 17 }, (_, i) => i % 253);
    const { ask } = await handlerOf(large, MIB);
    const [whole, part] = await Promise.all(
      [ask(), ask({ range: "bytes=100-" })].map(async (r) => bytesOf(await r)),
    );
    expect(Buffer.compare(whole ?? new Uint8Array(), large)).toBe(0);
    expect(Buffer.compare(part ?? new Uint8Array(), large.subarray(100))).toBe(0);
    // a client that goes gives back what it held
    const reader = (await ask()).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(await bytesOf(await ask())).toHaveLength(large.length);
  });

  it.each(["dropped", "aborted"])("answers others when bodies are %s that nobody reads", async (how) => {
    const { handle, ask } = await handlerOf(new Uint8Array(3 * MIB), MIB);
    for (let i = 0; i < 20; i++) {
      const client = new AbortController();
      expect((await handle(requestOf("a/0.0", { signal: client.signal }))).status).toBe(200);
      if (how === "aborted") client.abort();
    }
    expect(await bytesOf(await ask())).toHaveLength(3 * MIB);
  });

  it("gives back what it read for when reads fail", async () => {
    const { ask, store } = await handlerOf(VALUE, 10);
    const get = vi.spyOn(store, "get").mockRejectedValue(new ZarrflowError("transient", "away"));
    for (let i = 0; i < 3; i++) expect((await ask()).status).toBe(502);
    get.mockRestore();
    expect(await bytesOf(await ask())).toEqual(VALUE);
  });

  it("answers as usual where onFailure throws or rejects", async () => {
    const away = new ZarrflowError("transient", "away");
    const thrown = () => {
      throw new Error("of the log");
    };
    for (const onFailure of [thrown, () => Promise.reject(new Error("of the log"))])
      expect(await failureOf(away, onFailure)).toEqual([502, "transient\n"]);
  });

  it.each([
    [new ZarrflowError("transient", "https://user:secret@host/ is away"), 502, "transient\n"],
    [new ZarrflowError("corrupt-chunk", "token=secret"), 502, "corrupt-chunk\n"],
    [new ZarrflowError("invalid-metadata", "secret"), 502, "invalid-metadata\n"],
    [new ZarrflowError("unsupported-codec", "secret"), 501, "unsupported-codec\n"],
    [new ZarrflowError("path-not-allowed", "the name is too long"), 400, "path-not-allowed\n"],
    // a client takes the chunks of keys that are not there for empty
    [new ZarrflowError("not-found", "the bucket is gone"), 500, "not-found\n"],
    [new ZarrflowError("invalid-option", "secret"), 500, "invalid-option\n"],
    [new Error("secret"), 500, "internal error\n"],
  ])("says in a word that the source failed: %s", async (error, status, words) => {
    const onFailure = vi.fn();
    expect(await failureOf(error, onFailure)).toEqual([status, words]);
    expect(onFailure.mock.calls).toEqual([[error, expect.any(Request)]]);
  });

  it("answers many clients at one time from a store that is rechunked", async () => {
    const source = await given({ shape: [40, 40], chunks: [1, 40], dataType: "int32" });
    const store = await asStore(source, { chunks: "40,1", maxMemory: 300_000 });
    const expected = await Promise.all(Array.from({ length: 40 }, (_, i) => store.get(`c/0/${i}`)));
    const handle = storeHandler(async () => store, { maxBytes: 1000, onFailure: () => {} });
    const asked = Array.from({ length: 200 }, async (_, i) => {
      expect(await bytesOf(await handle(requestOf(`c/0/${i % 40}`)))).toEqual(expected[i % 40]);
    });
    await Promise.all(asked);
  });

  it("says when the source wants to be asked again", async () => {
    const error = new ZarrflowError("transient", "too many requests", { retryAfter: 2.5 });
    const response = await storeHandler(() => Promise.reject(error), { maxBytes: 1 })(requestOf("a"));
    expect([response.status, response.headers.get("retry-after")]).toEqual([502, "3"]);
  });

  it("fails a body whose value is changed meanwhile, and says so", async () => {
    const { ask, store, failures } = await handlerOf(new Uint8Array(3 * MIB));
    const reader = (await ask()).body?.getReader();
    vi.spyOn(store, "get").mockResolvedValue(new Uint8Array(1));
    await reader?.read();
    await expect(reader?.read().then(() => reader.read())).rejects.toThrow("changed while it was being read");
    expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining("changed") })]);
  });

  it("aborts the reads of a client that goes away", async () => {
    const onFailure = vi.fn();
    const reading: (AbortSignal | undefined)[] = [];
    const get: Store["get"] = (_, { signal } = {}) => {
      reading.push(signal);
      return new Promise((_resolve, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason)),
      );
    };
    const store: Store = { description: "slow", size: async () => 10, get };
    const client = new AbortController();
    const handle = storeHandler(async () => store, { maxBytes: 100, onFailure });
    const response = handle(requestOf("a", { signal: client.signal }));
    await until(() => reading.length === 1);
    client.abort();
    expect(reading[0]?.aborted).toBe(true);
    expect((await response).status).toBeGreaterThan(499);
    expect(onFailure).not.toHaveBeenCalled();
  });
});

describe("toFetchHandler", () => {
  const source = () => given({ zarrFormat: "v2", shape: [8, 8], chunks: [2, 8], dataType: "int16" });

  it("serves what a copy with the same changes holds, below its base", async () => {
    const target = new MemoryStore();
    const changes = { chunks: "8,2", to: "v3" } as const;
    await copy(await source(), target, changes);
    const handler = toFetchHandler(await source(), changes, { base: "some data/t" });
    const values = await valuesIn(target);
    expect(values.size).toBeGreaterThan(4);
    for (const [key, value] of values)
      expect(await bytesOf(await handler(requestOf(`some%20data/t/${key}`)))).toEqual(value);
    const data = "some%20data";
    for (const path of ["zarr.json", `${data}/tt/zarr.json`, `${data}/t`, `${data}/t/../zarr.json`])
      expect((await handler(requestOf(path))).status).toBe(404);
    await handler.close();
  });

  it("opens the source once, at the first request, and again after a failure", async () => {
    nameMemoryStore("fetched", undefined);
    const onFailure = vi.fn();
    const handler = toFetchHandler("memory:fetched", {}, { onFailure });
    const ask = async () => (await handler(requestOf(".zarray"))).status;
    expect(await ask()).toBe(500);
    const failure = expect.objectContaining({ code: "not-found" });
    expect(onFailure).toHaveBeenCalledWith(failure, expect.any(Request));
    await expect(handler.open()).rejects.toMatchObject({ code: "not-found" });
    const store = await source();
    const get = vi.spyOn(store, "get");
    nameMemoryStore("fetched", store);
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([200, 200, 200]);
    expect(get.mock.calls.filter(([key]) => key === ".zarray")).toHaveLength(1);
    nameMemoryStore("fetched", undefined);
  });

  it("answers 503 once it is closed", async () => {
    const handler = toFetchHandler(await source());
    await handler.open();
    await handler.close();
    expect(await wordsOf(await handler(requestOf(".zarray")))).toEqual([503, "aborted\n"]);
    await expect(handler.open()).rejects.toMatchObject({ code: "aborted" });
  });

  it("leaves out empty chunks, unless they are asked for", async () => {
    const store = await given({ shape: [4], chunks: [2], dataType: "uint8", codec: "none", values: null });
    await givenKeys({ "c/0": new Uint8Array(2), "c/1": new Uint8Array(2) }, store);
    for (const [options, status] of [
      [{}, 404],
      [{ writeEmptyChunks: true }, 200],
    ] as const)
      expect((await toFetchHandler(store, { chunks: [1] }, options)(requestOf("c/0"))).status).toBe(status);
  });

  it.each([
    [{ chunk: "8,2" }, {}, "unknown option `chunk`"],
    [{}, { bse: "/" }, "unknown option `bse`"],
    [{}, { base: 1 }, "invalid value for the option `base`"],
    [{}, { onFailure: 1 }, "invalid value for the option `onFailure`"],
    [{}, { maxMemory: "much" }, "much"],
  ])("refuses %j, %j", (changes, options, words) => {
    const make = () => toFetchHandler("memory:none", changes as never, options as never);
    const message = expect.stringContaining(words);
    expect(make).toThrow(expect.objectContaining({ code: "invalid-option", message }));
  });
});

it("HTTP_STATUS has a status of a failure for every code", () => {
  expect(Object.keys(HTTP_STATUS)).toEqual(Object.keys(EXIT_CODES));
  for (const status of Object.values(HTTP_STATUS)) expect(String(status)).toMatch(/^[45]\d\d$/);
});
