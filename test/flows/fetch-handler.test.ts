import { describe, expect, it } from "vitest";
import { storeHandler } from "../../../src/cli/server/store-handler.ts";
import { asStore } from "../../../src/flows/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import type { Store } from "../../../src/stores/store.ts";
import { ZarrflowError } from "../../../src/util/errors.ts";
import { makeArray } from "../../support/made-array.ts";

/** A handler of a store with one value of its own, and what it failed with. */
async function handlerOf(value: Uint8Array, maxBytes = 2 ** 21) {
  const memory = new MemoryStore();
  await memory.set("a/0.0", value);
  const failures: unknown[] = [];
  const version = `${value.length}-1`;
  const store: Store = {
    description: "memory",
    get: (key, options) => memory.get(key, options),
    size: async (key, options) => {
      options?.onVersion?.(version);
      return memory.size(key);
    },
  };
  const handle = storeHandler(store, { maxBytes, onFailure: (error) => failures.push(error) });
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

  it.each([
    [new ZarrflowError("transient", "https://user:secret@host/ is away"), 502, "transient\n"],
    [new ZarrflowError("corrupt-chunk", "token=secret"), 502, "corrupt-chunk\n"],
    [new ZarrflowError("invalid-metadata", "secret"), 500, "invalid-metadata\n"],
    [new Error("secret"), 500, "internal error\n"],
  ])("says in a word that the source failed: %s", async (error, status, words) => {
    const failures: unknown[] = [];
    const store: Store = {
      description: "failing",
      get: () => Promise.reject(error),
      size: async () => 10,
    };
    const handle = storeHandler(store, { maxBytes: 100, onFailure: (failure) => failures.push(failure) });
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
    const handle = storeHandler(store, { maxBytes: 1000, onFailure: () => {} });
    const asked = Array.from({ length: 200 }, async (_, i) => {
      const response = await handle(new Request(`http://127.0.0.1/0.${i % 40}`));
      expect(await bytesOf(response)).toEqual(expected[i % 40]);
    });
    await Promise.all(asked);
  });
});
