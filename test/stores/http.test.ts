// @module-tag slow
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { HttpStore } from "../../src/stores/http.ts";
import { settled, until } from "../support/until.ts";
import { allReject, keepsPromises } from "./support.ts";
import { type Fault, type Manners, serveValues } from "./value-server.ts";

/** What failed is not asked for again. */
const ONCE = { retry: { attempts: 1 } };
const TRANSIENT = { code: "transient", details: { key: "a/0" } };
const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i * 7);

const answering =
  (answer: (response: Parameters<Fault>[0]) => unknown): Fault =>
  (response) => {
    answer(response);
    return true;
  };
const status = (code: number, headers: Record<string, string> = {}) =>
  answering((response) => response.writeHead(code, headers).end("<error/>"));
const sendOn = (location: string) => status(302, { location });
const silence = answering(() => {});

// V2-83, V3-61
describe("HttpStore", () => {
  afterEach(() => void vi.useRealTimers());
  const serve = async (values: ReadonlyMap<string, Uint8Array>, manners?: Manners) => {
    const server = await serveValues(values, manners);
    onTestFinished(() => server.close());
    return server;
  };
  const serveOne = async (manners?: Manners) => {
    const server = await serve(new Map([["a/0", bytes]]), manners);
    /** What was asked for: ranges, and methods where there was none. */
    const asked = () => server.requests.map(({ method, headers }) => headers.range ?? method).join();
    return { ...server, asked };
  };

  describe.each<[string, Manners]>([
    ["knows ranges", {}],
    ["ignores ranges", { ignoresRanges: true }],
    ["ignores ranges, and hides lengths", { ignoresRanges: true, hidesLength: true }],
    ["refuses suffix ranges", { suffix: "refused" }],
    ["lies about suffix ranges", { suffix: "first bytes" }],
    ["hides lengths", { hidesLength: true }],
    ["knows no HEAD", { refusesHead: true }],
    ["denies HEAD", { refusesHead: 403 }],
    ["has not implemented HEAD", { refusesHead: 501, suffix: "refused" }],
    ["states no size to a HEAD, and ignores ranges", { headLength: 0, ignoresRanges: true }],
    ["compresses by gzip", { coding: "gzip" }],
    ["compresses by gzip, and refuses suffix ranges", { coding: "gzip", suffix: "refused" }],
    ["compresses by Brotli, and ignores ranges", { coding: "br", ignoresRanges: true }],
    ["answers 404 with JSON", { missing: "json" }],
    ["knows nothing of all that", { refusesHead: true, hidesLength: true, ignoresRanges: true }],
  ])("of a server that %s", (_, manners) => {
    keepsPromises({
      lists: false,
      filled: async (values) => new HttpStore((await serve(values, manners)).url),
    });
  });

  it("asks for no more than the part, in one request, which fills the buffer that it is given", async () => {
    const { url, asked } = await serveOne();
    const store = new HttpStore(url);
    const buffer = new Uint8Array(5);
    const range = { offset: 10, length: 5 };
    expect(await store.get("a/0", { range, allocate: () => buffer })).toBe(buffer);
    expect(buffer).toEqual(bytes.slice(10, 15));
    expect(await store.get("a/0", { range: { suffix: 3 } })).toEqual(bytes.slice(-3));
    expect(asked()).toBe("bytes=10-14,bytes=-3");
  });

  it("does not ask twice for a suffix that the server does not know, nor by HEAD where it knows none", async () => {
    const { url, asked } = await serveOne({ suffix: "first bytes" });
    const store = new HttpStore(url);
    for (let i = 0; i < 2; i++)
      expect(await store.get("a/0", { range: { suffix: 3 } })).toEqual(bytes.slice(-3));
    expect(asked()).toBe("bytes=-3,HEAD,bytes=997-999,HEAD,bytes=997-999");
    const other = await serveOne({ refusesHead: 501 });
    const sized = new HttpStore(other.url);
    for (let i = 0; i < 2; i++) expect(await sized.size("a/0")).toBe(1000);
    expect(other.requests.map(({ method }) => method)).toEqual(["HEAD", "GET", "GET"]);
  });

  it.each<Manners>([
    { headLength: 1, suffix: "refused" },
    { headLength: 5000, suffix: "first bytes" },
    { headLength: 500, suffix: "refused", ignoresRanges: true },
  ])("reads the last bytes of a server that states another size to a HEAD: %j", async (manners) => {
    const store = new HttpStore((await serveOne(manners)).url);
    for (let i = 0; i < 2; i++)
      expect(await store.get("a/0", { range: { suffix: 3 } })).toEqual(bytes.slice(-3));
  });

  it("refuses a range that is not the one asked for; where its place is hidden, one of another length", async () => {
    const { url } = await serveOne({ shiftsRanges: true });
    const range = { offset: 10, length: 5 };
    await expect(new HttpStore(url, ONCE).get("a/0", { range })).rejects.toMatchObject({
      code: "short-read",
      details: { expected: "bytes=10-14", found: "bytes 11-15/1000", key: "a/0", store: url },
    });
    const store = new HttpStore((await serveOne({ hidesContentRange: true })).url, ONCE);
    expect(await store.get("a/0", { range })).toEqual(bytes.slice(10, 15));
    const beyond = store.get("a/0", { range: { offset: 998, length: 5 } });
    await expect(beyond).rejects.toMatchObject({ code: "short-read" });
  });

  it.each([
    [401, "access-denied"],
    [403, "access-denied"],
    [400, "unsupported-operation"],
    [410, "unsupported-operation"],
    [429, "transient"],
    [500, "transient"],
    [503, "transient"],
  ])("%i is %s, for values, parts and sizes", async (code, expected) => {
    const { url, faults } = await serveOne();
    faults.push(...Array(8).fill(status(code))); // a HEAD that is denied is followed by a GET
    const store = new HttpStore(url, ONCE);
    const parts = [{ offset: 1, length: 1 }, { suffix: 1 }].map((range) => store.get("a/0", { range }));
    await allReject([...parts, store.get("a/0"), store.size("a/0")], { code: expected });
  });

  it.each([
    [{ attempts: 0 }, "attempts"],
    [{ timeout: "soon" }, "timeout"],
    [{ timeout: "9999h" }, "timeout"],
    [{ atempts: 2 } as object, "atempts"],
  ])("refuses retry: %j", (retry, named) => {
    expect(() => new HttpStore("http://host/x", { retry })).toThrow(named);
  });

  it("asks again what failed temporarily, as often as it may, and says how often that was", async () => {
    const { url, faults, requests } = await serveOne();
    const store = new HttpStore(url, { retry: { attempts: 3, firstWait: "1ms" } });
    faults.push(status(500), status(503));
    expect(await store.get("a/0")).toEqual(bytes);
    faults.push(status(500), status(500), status(500), status(500));
    await expect(store.get("a/0")).rejects.toMatchObject({
      code: "transient",
      message: expect.stringMatching(/3 attempts in \d[\d.]* s/),
      details: { attempts: 3, hint: expect.stringContaining("retry: { attempts: 20 }") },
    });
    expect(requests).toHaveLength(6);
  });

  it("takes 403 for a missing key where an option says so, but not that of a HEAD; else it names the option", async () => {
    const { url } = await serveOne({ refusesHead: 403, missing: "denied" });
    const store = new HttpStore(url, { missing403: true });
    expect(await store.get("a/1")).toBeUndefined();
    expect([await store.size("a/0"), await store.size("a/1")]).toEqual([1000, undefined]);
    const hint = expect.stringContaining("--missing-403");
    await expect(new HttpStore(url).get("a/1")).rejects.toMatchObject({
      code: "access-denied",
      details: { hint },
    });
  });

  it("says of a 403 that the query or the headers that were sent may not be accepted", async () => {
    const { url, faults } = await serveOne();
    const hintOf = async (...of: ConstructorParameters<typeof HttpStore>) => {
      faults.push(status(403));
      return new HttpStore(...of).get("a/0").catch(({ details }) => details.hint);
    };
    const query = await hintOf(`${url}?token=wrong`);
    expect(query).toMatch(/^It may not accept the query that it was sent: .*--missing-403/);
    expect(query).not.toContain("wrong");
    const headers = { "x-api-key": "wrong" };
    expect(await hintOf(url, { headers })).toMatch(/^It may not accept the headers that it was sent/);
    expect(await hintOf(url)).toMatch(/^Buckets that may be read but not listed/);
  });

  it("never takes a page of HTML for a value", async () => {
    const values = { "a/0": bytes, "index.html": bytes };
    const { url } = await serve(new Map(Object.entries(values)), { missing: "page" });
    const store = new HttpStore(url);
    const failure = { code: "access-denied", details: { found: "200 text/html", key: "a/1" } };
    const parts = [{ offset: 1, length: 4 }, { suffix: 4 }].map((range) => store.get("a/1", { range }));
    await allReject([...parts, store.get("a/1"), store.size("a/1")], failure);
    expect(await store.get("index.html")).toEqual(bytes);
  });

  it("reports when the server wants to be asked again", async () => {
    const { url, faults } = await serveOne();
    const store = new HttpStore(url, ONCE);
    const retryAfter = async (value: string) => {
      faults.push(status(503, { "retry-after": value }));
      return store.get("a/0").catch(({ details }) => details.retryAfter);
    };
    expect(await retryAfter("7")).toBe(7);
    const seconds = await retryAfter(new Date(Date.now() + 60_000).toUTCString());
    expect(seconds).toBeGreaterThan(50);
    expect(seconds).toBeLessThanOrEqual(60);
  });

  it("takes a body that is cut, and no answer, for a failure for now, and a host that is not there by its code", async () => {
    const { url, faults } = await serveOne();
    const store = new HttpStore(url, ONCE);
    const cut = answering((r) =>
      r.writeHead(200, { "content-length": 1000 }).write("short", () => r.destroy()),
    );
    for (const fault of [cut, answering((response) => response.destroy())]) {
      faults.push(fault);
      await expect(store.get("a/0")).rejects.toMatchObject(TRANSIENT);
    }
    const found = /ENOTFOUND|EAI_AGAIN/;
    const nowhere = new HttpStore("http://no-such-host.invalid/x", ONCE).get("a");
    await expect(nowhere).rejects.toMatchObject({ code: "transient", details: { found } });
  });

  it("reads values that come compressed, though their length is that of the compressed body", async () => {
    const { url, faults } = await serveOne();
    const packed = gzipSync(bytes);
    const headers = { "content-encoding": "gzip", "content-length": packed.length };
    faults.push(answering((response) => response.writeHead(200, headers).end(packed)));
    expect(await new HttpStore(url).get("a/0")).toEqual(bytes);
  });

  it("escapes what a URL means otherwise, keeps its query, sends headers, and shows neither", async () => {
    const key = "a b/c?d#e%";
    const { url, requests, faults } = await serve(new Map([[key, bytes]]));
    const headers = { authorization: "Bearer secret" };
    const store = new HttpStore(`${url}/?sig=secret`, { headers, ...ONCE });
    expect(await store.get(key)).toEqual(bytes);
    expect(requests[0]).toMatchObject({ url: "/data/a%20b/c%3Fd%23e%25?sig=secret", headers });
    faults.push(status(500));
    const error = await store.get("a/0").catch((failure) => failure);
    expect(JSON.stringify([store.description, error.message, error.details])).not.toContain("secret");
  });

  it("follows where the server sends a request, with its range, and asks the program before each", async () => {
    const { url, requests, faults } = await serve(new Map([["b/0", bytes]]));
    const before: number[] = [];
    const beforeRequest = async () => void before.push(requests.length);
    const store = new HttpStore(url, { headers: { "x-api-key": "secret" }, beforeRequest });
    faults.push(sendOn("/data/a/1"), sendOn("../b/0"));
    expect(await store.get("a/0", { range: { offset: 10, length: 5 } })).toEqual(bytes.slice(10, 15));
    const seen = requests.map(({ url, headers }) => `${url} ${headers.range} ${headers["x-api-key"]}`);
    expect(seen).toEqual(["a/0", "a/1", "b/0"].map((key) => `/data/${key} bytes=10-14 secret`));
    expect(before).toEqual([0, 1, 2]);
  });

  it("takes no header of the caller's to another server, and says so where that denies what is asked", async () => {
    const [here, there] = [await serveOne(), await serveOne()];
    const store = new HttpStore(here.url, { headers: { "x-api-key": "secret" } });
    here.faults.push(...Array(3).fill(sendOn(`${there.url}/a/0`)));
    expect(await store.get("a/0", { range: { suffix: 3 } })).toEqual(bytes.slice(-3));
    expect(there.requests[0]?.headers).toMatchObject({ range: "bytes=-3" });
    expect(there.requests[0]?.headers).not.toHaveProperty("x-api-key");
    const reason = expect.stringMatching(
      / after a redirect to http:\/\/[^/]+, to which your headers were not sent$/,
    );
    for (const code of [401, 403]) {
      there.faults.push(status(code));
      await expect(store.get("a/0")).rejects.toMatchObject({ code: "access-denied", reason });
    }
  });

  it.each([
    ["ftp://host/a", "ftp://host"],
    ["http://user:word@host/a", "http://host"],
    ["http://[", "302 without a Location header"],
  ])("does not follow to %s", async (location, found) => {
    const { url, faults, requests } = await serveOne();
    faults.push(sendOn(location));
    const failure = { code: "unsupported-operation", details: { found } };
    await expect(new HttpStore(url).get("a/0")).rejects.toMatchObject(failure);
    expect(requests).toHaveLength(1);
  });

  it("does not follow from https to http, nor in circles", async () => {
    const asked: string[] = [];
    const sentTo = (location: string) => {
      const fetch = async (url: string | URL | Request) => {
        asked.push(String(url));
        return new Response(null, { status: 307, headers: { location } });
      };
      return new HttpStore("https://host/x", { fetch }).get("a");
    };
    await expect(sentTo("https://host/x/a")).rejects.toMatchObject({ code: "unsupported-operation" });
    expect(asked).toHaveLength(11);
    await expect(sentTo("http://host/x/a")).rejects.toMatchObject({ details: { found: "http://host" } });
  });

  it("leaves redirections to a runtime that hides them", async () => {
    const asked: (RequestRedirect | undefined)[] = [];
    const hidden = Object.defineProperty(new Response(null), "type", { value: "opaqueredirect" });
    const fetch = async (_: unknown, init?: RequestInit) => {
      asked.push(init?.redirect);
      return init?.redirect === "manual" ? hidden : new Response(bytes);
    };
    expect(await new HttpStore("https://host/x", { fetch }).get("a")).toEqual(bytes);
    expect(asked).toEqual(["manual", undefined]);
  });

  const stopsAmid = answering((response) =>
    response.writeHead(200, { "content-length": bytes.length }).write(bytes.subarray(0, 10)),
  );

  it.each([
    ["before its answer", [silence]],
    ["amid its answer", [stopsAmid]],
    ["after it has sent the request on", [sendOn("/data/a/1"), silence]],
  ])("gives up on a server that is silent %s, which may be asked again", async (_, given) => {
    const { url, faults, requests } = await serveOne();
    const store = new HttpStore(url, { retry: { timeout: 0.5, attempts: 1 } });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const failure = { ...TRANSIENT, message: expect.stringContaining("did not respond") };
    const failsAfter = async (asking: Promise<unknown>, count: number) => {
      const failing = expect(asking).rejects.toMatchObject(failure);
      await until(() => requests.length === count);
      await settled();
      vi.advanceTimersByTime(500);
      await failing;
    };
    faults.push(...given);
    await failsAfter(store.get("a/0"), given.length);
    expect(await store.get("a/0")).toEqual(bytes);
    faults.push(silence);
    await failsAfter(store.size("a/0"), given.length + 2);
  });

  it("waits for a server that is slow, not silent, and for a program that is asked before", async () => {
    const { url, faults } = await serveOne();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const slow = answering((response) => {
      response.writeHead(200, { "content-length": bytes.length });
      const send = (at: number): unknown => {
        if (at >= bytes.length) return response.end();
        vi.advanceTimersByTime(60);
        return response.write(bytes.subarray(at, at + 4), () => setImmediate(send, at + 4));
      };
      send(0);
    });
    faults.push(slow);
    const retry = { timeout: 1, attempts: 1 };
    const beforeRequest = async () => void (await vi.advanceTimersByTimeAsync(1100));
    expect(await new HttpStore(url, { retry, beforeRequest }).get("a/0")).toEqual(bytes);
  });

  it("reads no page without end that comes with a missing value or a failure", async () => {
    const { url, faults } = await serveOne();
    const closed: Promise<unknown>[] = [];
    const endless = (code: number) =>
      answering((response) => {
        closed.push(once(response, "close"));
        const send = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65536)));
        };
        response.writeHead(code).on("drain", send);
        send();
      });
    faults.push(endless(404), endless(500));
    const store = new HttpStore(url, ONCE);
    expect(await store.get("a/0")).toBeUndefined();
    await expect(store.get("a/0")).rejects.toMatchObject({ code: "transient" });
    await Promise.all(closed);
  });

  it("uses its connection again behind missing values", async () => {
    const { url, faults } = await serveOne();
    const ports = new Set<number | undefined>();
    const missing = answering((response) => {
      ports.add(response.socket?.remotePort);
      response.writeHead(404).write("no ");
      setImmediate(() => response.end("such page"));
    });
    for (let i = 0; i < 20; i++) {
      faults.push(missing);
      expect(await new HttpStore(url).get(`missing/${i}`)).toBeUndefined();
    }
    expect(ports.size).toBeLessThan(3);
  });

  it("refuses a value that is said to be larger than memory", async () => {
    const { url, faults } = await serveOne();
    faults.push(answering((response) => response.writeHead(200, { "content-length": 2 ** 50 }).write("x")));
    await expect(new HttpStore(url).get("a/0")).rejects.toMatchObject({ code: "resource-limit" });
  });

  it("passes on the reason of an abort", async () => {
    const { url, faults } = await serveOne();
    const abort = new AbortController();
    faults.push(answering(() => abort.abort(new Error("enough"))));
    const reading = new HttpStore(url).get("a/0", { signal: abort.signal });
    await expect(reading).rejects.toMatchObject({ code: "aborted", cause: new Error("enough") });
  });

  it.each([
    ["ftp://host/x", {}],
    ["not a url", {}],
    ["http://user:SeCrEt@host/x", {}],
    ["http://host/x", { headers: { authorization: "Bearer SeCrEt\nx" } }],
  ])("refuses %s with %j, and does not show what is secret", (url, options) => {
    const make = () => new HttpStore(url, options);
    expect(make).toThrow(expect.objectContaining({ code: "invalid-option" }));
    expect(make).not.toThrow(/SeCrEt/);
  });
});
