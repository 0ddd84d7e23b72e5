import { describe, expect, it, vi } from "vitest";
import { storeHandler } from "../../src/flows/fetch-handler.ts";
import { asStore, copy, create, EXIT_CODES, HTTP_STATUS, toFetchHandler } from "../../src/index.ts";
import { MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import type { Store } from "../../src/stores/store.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
import { valuesIn } from "../support/consume.ts";
import { makeArray } from "../support/made-array.ts";

/** A handler of a store with one value of its own, and what it failed with. */
async function handlerOf(value: Uint8Array, maxBytes = 2 ** 21) {
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
  const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    handle(new Request(`http://127.0.0.1/${path}`, { method, headers }));
  return { ask, failures, etag: `"${version}"`, store, handle };
}

const VALUE = Uint8Array.from({ length: 3000 }, (_, i) => i % 251);
const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer());

describe("storeHandler", () => {
  it("gives values whole, with length, type and entity tag, to pages of any origin", async () => {
    const { ask, etag } = await handlerOf(VALUE);
    const response = await ask("a/0.0");
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
    ["bytes=0-9", 0, 10],
    ["bytes=2990-", 2990, 3000],
    ["bytes=2990-5000", 2990, 3000],
    ["bytes=-7", 2993, 3000],
    ["bytes=-5000", 0, 3000],
  ])("gives the range %s", async (range, start, end) => {
    const { ask } = await handlerOf(VALUE);
    const response = await ask("a/0.0", { range });
    expect(response.status).toBe(206);
    expect(response.headers.get("content-range")).toBe(`bytes ${start}-${end - 1}/3000`);
    expect(await bytesOf(response)).toEqual(VALUE.slice(start, end));
  });

  it.each(["bytes=3000-", "bytes=-0", "bytes=9000-9001"])(
    "says that %s cannot be satisfied",
    async (range) => {
      const { ask } = await handlerOf(VALUE);
      const response = await ask("a/0.0", { range });
      expect(response.status).toBe(416);
      expect(response.headers.get("content-range")).toBe("bytes */3000");
    },
  );

  it.each(["bytes=0-1,5-6", "bytes=9-2", "items=0-1", "bytes=-", "bytes=a-b"])(
    "gives all for %s",
    async (range) => {
      const { ask } = await handlerOf(VALUE);
      expect((await ask("a/0.0", { range })).status).toBe(200);
    },
  );

  it("answers conditions", async () => {
    const { ask, etag } = await handlerOf(VALUE);
    for (const list of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      expect((await ask("a/0.0", { "if-none-match": list })).status).toBe(304);
    }
    expect((await ask("a/0.0", { "if-none-match": '"x"' })).status).toBe(200);
    const range = "bytes=0-9";
    expect((await ask("a/0.0", { range, "if-range": etag })).status).toBe(206);
    expect((await ask("a/0.0", { range, "if-range": '"x"' })).status).toBe(200);
    expect((await ask("a/0.0", { range, "if-range": `W/${etag}` })).status).toBe(200);
  });

  it("answers HEAD and OPTIONS, and no other method", async () => {
    const { ask } = await handlerOf(VALUE);
    const head = await ask("a/0.0", {}, "HEAD");
    expect([head.status, head.headers.get("content-length"), head.body]).toEqual([200, "3000", null]);
    const options = await ask("a/0.0", {}, "OPTIONS");
    expect(options.status).toBe(204);
    expect(options.headers.get("access-control-allow-headers")).toContain("Range");
    expect(options.headers.get("access-control-allow-methods")).toBe("GET, HEAD, OPTIONS");
    for (const method of ["POST", "PUT", "DELETE"]) {
      expect((await ask("a/0.0", {}, method)).status).toBe(405);
    }
  });

  it.each([
    ["", 404],
    ["b", 404],
    ["a", 404],
    ["a/", 404],
    ["a%2f..%2f..%2fetc%2fpasswd", 404],
    ["a%00b", 404],
    ["a%5cb", 404],
    ["%ff", 400],
    ["x".repeat(5000), 404],
  ])("finds nothing at %s", async (path, status) => {
    const { ask, failures } = await handlerOf(VALUE);
    expect((await ask(path)).status).toBe(status);
    expect(failures).toEqual([]);
  });

  it("sends large values in pieces that the budget holds, one client after the other", async () => {
    const large = Uint8Array.from({ length: 5 * 2 ** 20 + 17 }, (_, i) => i % 253);
    const { ask } = await handlerOf(large, 2 ** 20);
    const asked = [ask("a/0.0"), ask("a/0.0", { range: "bytes=100-" })].map(async (response) =>
      bytesOf(await response),
    );
    const [whole, part] = await Promise.all(asked);
    expect(Buffer.compare(whole ?? new Uint8Array(), large)).toBe(0);
    expect(Buffer.compare(part ?? new Uint8Array(), large.subarray(100))).toBe(0);
    // a client that goes gives back what it held
    const reader = (await ask("a/0.0")).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(await bytesOf(await ask("a/0.0"))).toHaveLength(large.length);
  });

  it.each(["dropped", "aborted"])("answers others when bodies are %s that nobody reads", async (how) => {
    const { handle, ask } = await handlerOf(new Uint8Array(3 * 2 ** 20), 2 ** 20);
    const unread: Response[] = [];
    for (let i = 0; i < 20; i++) {
      const client = new AbortController();
      unread.push(await handle(new Request("http://127.0.0.1/a/0.0", { signal: client.signal })));
      if (how === "aborted") client.abort();
    }
    expect(unread.map(({ status }) => status)).toEqual(unread.map(() => 200));
    expect(await bytesOf(await ask("a/0.0"))).toHaveLength(3 * 2 ** 20);
  });

  it("gives back what it read for when reads fail", async () => {
    const { ask, store } = await handlerOf(VALUE, 10);
    const get = vi.spyOn(store, "get").mockRejectedValue(new ZarrflowError("transient", "away"));
    for (let i = 0; i < 3; i++) expect((await ask("a/0.0")).status).toBe(502);
    get.mockRestore();
    expect(await bytesOf(await ask("a/0.0"))).toEqual(VALUE);
  });

  it.each<[string, () => void]>([
    [
      "throws",
      () => {
        throw new Error("of the log");
      },
    ],
    ["rejects", () => Promise.reject(new Error("of the log"))],
  ])("answers as usual where onFailure %s", async (_, onFailure) => {
    const store: Store = {
      description: "failing",
      get: () => Promise.reject(new ZarrflowError("transient", "away")),
      size: async () => 10,
    };
    const handle = storeHandler(async () => store, { maxBytes: 100, onFailure });
    const response = await handle(new Request("http://127.0.0.1/a"));
    expect([response.status, await response.text()]).toEqual([502, "transient\n"]);
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
    const failures: unknown[] = [];
    const store: Store = {
      description: "failing",
      get: () => Promise.reject(error),
      size: async () => 10,
    };
    const handle = storeHandler(async () => store, {
      maxBytes: 100,
      onFailure: (failure) => failures.push(failure),
    });
    const response = await handle(new Request("http://127.0.0.1/a"));
    expect([response.status, await response.text()]).toEqual([status, words]);
    expect(failures).toEqual([error]);
  });

  it("answers many clients at one time from a store that is rechunked", async () => {
    const { store: source } = await makeArray({
      shape: [40, 40],
      chunks: [1, 40],
      order: "C",
      itemSize: 4,
      missing: 0,
      seed: 3,
    });
    const store = await asStore(source, { chunks: "40,1", maxMemory: 300_000 });
    const expected = await Promise.all(Array.from({ length: 40 }, (_, i) => store.get(`0.${i}`)));
    const handle = storeHandler(async () => store, { maxBytes: 1000, onFailure: () => {} });
    const asked = Array.from({ length: 200 }, async (_, i) => {
      const response = await handle(new Request(`http://127.0.0.1/0.${i % 40}`));
      expect(await bytesOf(response)).toEqual(expected[i % 40]);
    });
    await Promise.all(asked);
  });

  it("says when the source wants to be asked again", async () => {
    const error = new ZarrflowError("transient", "too many requests", { retryAfter: 2.5 });
    const handle = storeHandler(() => Promise.reject(error), { maxBytes: 1 });
    const response = await handle(new Request("http://127.0.0.1/a"));
    expect([response.status, response.headers.get("retry-after")]).toEqual([502, "3"]);
  });

  it("fails a body whose value is changed meanwhile, and says so", async () => {
    const large = new Uint8Array(3 * 2 ** 20);
    const { ask, store, failures } = await handlerOf(large);
    const reader = (await ask("a/0.0")).body?.getReader();
    vi.spyOn(store, "get").mockResolvedValue(new Uint8Array(1));
    await reader?.read();
    await expect(reader?.read().then(() => reader.read())).rejects.toThrow("changed while it was read");
    expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining("changed") })]);
  });

  it("aborts the reads of a client that goes away", async () => {
    const onFailure = vi.fn();
    let reading: (signal: AbortSignal | undefined) => void = () => {};
    const read = new Promise<AbortSignal | undefined>((resolve) => {
      reading = resolve;
    });
    const store: Store = {
      description: "slow",
      size: async () => 10,
      get: (_, { signal } = {}) => {
        reading(signal);
        return new Promise((_resolve, reject) =>
          signal?.addEventListener("abort", () => reject(signal.reason)),
        );
      },
    };
    const client = new AbortController();
    const response = storeHandler(async () => store, { maxBytes: 100, onFailure })(
      new Request("http://127.0.0.1/a", { signal: client.signal }),
    );
    const signal = await read;
    client.abort();
    expect(signal?.aborted).toBe(true);
    expect((await response).status).toBeGreaterThan(499);
    expect(onFailure).not.toHaveBeenCalled();
  });
});

describe("toFetchHandler", () => {
  const source = async () =>
    (await makeArray({ shape: [8, 8], chunks: [2, 8], order: "C", itemSize: 2, missing: 0, seed: 5 })).store;
  const changes = { chunks: "8,2", to: "v3" } as const;

  it("serves what a copy with the same changes holds, below its base", async () => {
    const target = new MemoryStore();
    await copy(await source(), target, changes);
    const handler = toFetchHandler(await source(), changes, { base: "some data/t" });
    const values = await valuesIn(target);
    expect(values.size).toBeGreaterThan(4);
    for (const [key, value] of values) {
      const response = await handler(new Request(`http://127.0.0.1/some%20data/t/${key}`));
      expect(await bytesOf(response)).toEqual(value);
    }
    for (const path of [
      "zarr.json",
      "some%20data/tt/zarr.json",
      "some%20data/t",
      "some%20data/t/../zarr.json",
    ]) {
      expect((await handler(new Request(`http://127.0.0.1/${path}`))).status).toBe(404);
    }
    await handler.close();
  });

  it("opens the source once, at the first request, and again after a failure", async () => {
    nameMemoryStore("fetched", undefined);
    const onFailure = vi.fn();
    const handler = toFetchHandler("memory:fetched", {}, { onFailure });
    const ask = () => handler(new Request("http://127.0.0.1/.zarray"));
    expect((await ask()).status).toBe(500);
    expect(onFailure).toHaveBeenCalledWith(
      expect.objectContaining({ code: "not-found" }),
      expect.any(Request),
    );
    await expect(handler.open()).rejects.toMatchObject({ code: "not-found" });
    const store = await source();
    const get = vi.spyOn(store, "get");
    nameMemoryStore("fetched", store);
    expect((await Promise.all([ask(), ask(), ask()])).map(({ status }) => status)).toEqual([200, 200, 200]);
    const documents = get.mock.calls.filter(([key]) => key === ".zarray");
    expect(documents).toHaveLength(1);
    nameMemoryStore("fetched", undefined);
  });

  it("answers 503 once it is closed", async () => {
    const handler = toFetchHandler(await source());
    await handler.open();
    await handler.close();
    const response = await handler(new Request("http://127.0.0.1/.zarray"));
    expect([response.status, await response.text()]).toEqual([503, "aborted\n"]);
    await expect(handler.open()).rejects.toMatchObject({ code: "aborted" });
  });

  it("leaves out empty chunks, unless they are asked for", async () => {
    const store = new MemoryStore();
    const array = await create(store, { shape: [4], chunks: [2], dataType: "uint8" }, { writeEmpty: true });
    await array.write([], new Uint8Array(4));
    await array.close();
    const [without, having] = [undefined, true].map((writeEmpty) =>
      toFetchHandler(store, { chunks: [1] }, { writeEmpty }),
    );
    const status = async (handler: typeof having) =>
      (await handler?.(new Request("http://127.0.0.1/c/0")))?.status;
    expect([await status(without), await status(having)]).toEqual([404, 200]);
  });

  it.each([
    [{ chunk: "8,2" }, {}, "unknown option `chunk`"],
    [{}, { bse: "/" }, "unknown option `bse`"],
    [{}, { base: 1 }, "invalid value for the option `base`"],
    [{}, { onFailure: 1 }, "invalid value for the option `onFailure`"],
    [{}, { maxMemory: "much" }, "much"],
  ])("refuses %j, %j", (changes, options, words) => {
    const make = () => toFetchHandler("memory:none", changes as never, options as never);
    expect(make).toThrow(expect.objectContaining({ code: "invalid-option" }));
    expect(make).toThrow(words);
  });
});

describe("HTTP_STATUS", () => {
  it("has a status of a failure for every code", () => {
    expect(Object.keys(HTTP_STATUS)).toEqual(Object.keys(EXIT_CODES));
    for (const status of Object.values(HTTP_STATUS)) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(600);
    }
  });
});
