// @module-tag slow
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import { HttpStore } from "../../src/stores/http.ts";
import { storeChecks } from "../../src/stores/testing.ts";
import { settled, until } from "../support/until.ts";
import { type Fault, type Manners, serveValues, type ValueServer } from "./value-server.ts";

/** What failed is not asked for again. */
const ONCE = { retry: { attempts: 1 } };

const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i * 7);

// V2-83, V3-61
describe("HttpStore", () => {
  const servers: ValueServer[] = [];
  const serve = async (values: ReadonlyMap<string, Uint8Array>, manners?: Manners) => {
    const server = await serveValues(values, manners);
    servers.push(server);
    return server;
  };
  const serveOne = (manners?: Manners) => serve(new Map([["a/0", bytes]]), manners);
  afterEach(async () => {
    vi.useRealTimers();
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

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
    [
      "knows no HEAD, hides lengths and ignores ranges",
      { refusesHead: true, hidesLength: true, ignoresRanges: true },
    ],
  ])("of a server that %s", (_, manners) => {
    const filled = async (values: ReadonlyMap<string, Uint8Array>) =>
      new HttpStore((await serve(values, manners)).url);
    for (const { name, run } of storeChecks({ lists: false, filled })) it(name, () => run());
  });

  it("asks for no more than the part, in one request", async () => {
    const { url, requests } = await serveOne();
    const store = new HttpStore(url);
    expect(await store.get("a/0", { range: { offset: 10, length: 5 } })).toEqual(bytes.slice(10, 15));
    expect(await store.get("a/0", { range: { suffix: 3 } })).toEqual(bytes.slice(-3));
    expect(requests.map(({ method, headers }) => [method, headers.range])).toEqual([
      ["GET", "bytes=10-14"],
      ["GET", "bytes=-3"],
    ]);
  });

  it("does not ask twice for a suffix that the server does not know", async () => {
    const { url, requests } = await serveOne({ suffix: "first bytes" });
    const store = new HttpStore(url);
    for (let i = 0; i < 2; i++)
      expect(await store.get("a/0", { range: { suffix: 3 } })).toEqual(bytes.slice(-3));
    expect(requests.map(({ method, headers }) => headers.range ?? method)).toEqual([
      "bytes=-3",
      "HEAD",
      "bytes=997-999",
      "HEAD",
      "bytes=997-999",
    ]);
  });

  it("refuses a range that is not the one asked for", async () => {
    const { url } = await serveOne({ shiftsRanges: true });
    const store = new HttpStore(url, ONCE);
    await expect(store.get("a/0", { range: { offset: 10, length: 5 } })).rejects.toMatchObject({
      code: "short-read",
      details: { expected: "bytes=10-14", found: "bytes 11-15/1000", key: "a/0", store: url },
    });
  });

  it("takes a range whose place is hidden only when its length is right", async () => {
    const { url } = await serveOne({ hidesContentRange: true });
    const store = new HttpStore(url, ONCE);
    expect(await store.get("a/0", { range: { offset: 10, length: 5 } })).toEqual(bytes.slice(10, 15));
    await expect(store.get("a/0", { range: { offset: 998, length: 5 } })).rejects.toMatchObject({
      code: "short-read",
    });
  });

  it("fills the buffer that it is given", async () => {
    const { url } = await serveOne();
    const buffer = new Uint8Array(5);
    const range = { offset: 10, length: 5 };
    expect(await new HttpStore(url).get("a/0", { range, allocate: () => buffer })).toBe(buffer);
  });

  const status =
    (code: number, headers: Record<string, string> = {}): Fault =>
    (response) => {
      response.writeHead(code, headers).end("<error/>");
      return true;
    };

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
    const store = new HttpStore(url, ONCE);
    for (const ask of [
      () => store.get("a/0"),
      () => store.get("a/0", { range: { offset: 1, length: 1 } }),
      () => store.get("a/0", { range: { suffix: 1 } }),
      () => store.size("a/0"),
    ]) {
      faults.push(status(code), status(code)); // a HEAD that is denied is followed by a GET
      await expect(ask()).rejects.toMatchObject({ code: expected });
      faults.length = 0;
    }
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
    const error = await store.get("a/0").catch((failure) => failure);
    expect(error).toMatchObject({
      code: "transient",
      message: expect.stringMatching(/3 attempts in \d[\d.]* s/),
      details: { attempts: 3, hint: expect.stringContaining("retry: { attempts: 20 }") },
    });
    expect(requests).toHaveLength(6);
  });

  it("takes 403 for a missing key where an option says so", async () => {
    const { url, faults } = await serveOne();
    faults.push(status(403));
    expect(await new HttpStore(url, { missing403: true }).get("a/1")).toBeUndefined();
  });

  it("does not take a HEAD that is denied for a missing key", async () => {
    const { url } = await serveOne({ refusesHead: 403, missing: "denied" });
    const store = new HttpStore(url, { missing403: true });
    expect(await store.size("a/0")).toBe(1000);
    expect(await store.size("a/1")).toBeUndefined();
  });

  it.each<Manners>([
    { headLength: 1, suffix: "refused" },
    { headLength: 5000, suffix: "first bytes" },
    { headLength: 500, suffix: "refused", ignoresRanges: true },
  ])("reads the last bytes of a server that states another size to a HEAD: %j", async (manners) => {
    const { url } = await serveOne(manners);
    const store = new HttpStore(url);
    for (let i = 0; i < 2; i++)
      expect(await store.get("a/0", { range: { suffix: 3 } })).toEqual(bytes.slice(-3));
  });

  it("asks for sizes by HEAD no more where the server knows no HEAD", async () => {
    const { url, requests } = await serveOne({ refusesHead: 501 });
    const store = new HttpStore(url);
    for (let i = 0; i < 2; i++) expect(await store.size("a/0")).toBe(1000);
    expect(requests.map(({ method }) => method)).toEqual(["HEAD", "GET", "GET"]);
  });

  it("never takes a page of HTML for a value", async () => {
    const { url } = await serve(
      new Map([
        ["a/0", bytes],
        ["index.html", bytes],
      ]),
      { missing: "page" },
    );
    const store = new HttpStore(url);
    const failure = { code: "access-denied", details: { found: "200 text/html", key: "a/1" } };
    for (const ask of [
      () => store.get("a/1"),
      () => store.get("a/1", { range: { offset: 1, length: 4 } }),
      () => store.get("a/1", { range: { suffix: 4 } }),
      () => store.size("a/1"),
    ])
      await expect(ask()).rejects.toMatchObject(failure);
    expect(await store.get("index.html")).toEqual(bytes);
  });

  it("names --missing-403 where a read is denied", async () => {
    const { url } = await serveOne({ missing: "denied" });
    await expect(new HttpStore(url).get("a/1")).rejects.toMatchObject({
      code: "access-denied",
      details: { hint: expect.stringContaining("--missing-403") },
    });
  });

  it("says of a 403 that the query or the headers that were sent may not be accepted", async () => {
    const { url, faults } = await serveOne();
    const hintOf = async (store: HttpStore) => {
      faults.push(status(403));
      return store.get("a/0").catch(({ details }) => details.hint);
    };
    const query = await hintOf(new HttpStore(`${url}?token=wrong`));
    expect(query).toMatch(/^It may not accept the query that it was sent: .*--missing-403/);
    expect(query).not.toContain("wrong");
    const headers = await hintOf(new HttpStore(url, { headers: { "x-api-key": "wrong" } }));
    expect(headers).toMatch(/^It may not accept the headers that it was sent/);
    expect(await hintOf(new HttpStore(url))).toMatch(/^If the server answers so/);
  });

  it.each([401, 403])("says that another host, which answers %i, did not get the headers", async (code) => {
    const other = await serveOne();
    const { url, faults } = await serveOne();
    const location = `${other.url}/a/0`.replace(/([^:])\/\//, "$1/");
    faults.push(status(302, { location }));
    other.faults.push(status(code));
    const store = new HttpStore(url, { headers: { authorization: "Bearer x" } });
    await expect(store.get("a/0")).rejects.toMatchObject({
      code: "access-denied",
      reason: expect.stringMatching(
        / after a redirect to http:\/\/[^/]+, to which your headers were not sent$/,
      ),
    });
  });

  it("reports when the server wants to be asked again", async () => {
    const { url, faults } = await serveOne();
    faults.push(status(503, { "retry-after": "7" }));
    const store = new HttpStore(url, ONCE);
    await expect(store.get("a/0")).rejects.toMatchObject({ details: { retryAfter: 7 } });
    const inAMinute = new Date(Date.now() + 60_000).toUTCString();
    faults.push(status(503, { "retry-after": inAMinute }));
    const error = await store.get("a/0").catch((failure) => failure);
    expect(error.details.retryAfter).toBeGreaterThan(50);
    expect(error.details.retryAfter).toBeLessThanOrEqual(60);
  });

  it.each([
    [
      "a body that is cut",
      (r: Parameters<Fault>[0]) =>
        r.writeHead(200, { "content-length": 1000 }).write("short", () => r.destroy()),
    ],
    ["no answer", (r: Parameters<Fault>[0]) => r.destroy()],
  ])("%s is transient", async (_, end) => {
    const { url, faults } = await serveOne();
    faults.push((response) => {
      end(response);
      return true;
    });
    await expect(new HttpStore(url, ONCE).get("a/0")).rejects.toMatchObject({
      code: "transient",
      details: { key: "a/0" },
    });
  });

  it("a host that does not exist is reported by its system's code", async () => {
    const store = new HttpStore("http://no-such-host.invalid/x", ONCE);
    await expect(store.get("a")).rejects.toMatchObject({
      code: "transient",
      details: { found: /ENOTFOUND|EAI_AGAIN/ },
    });
  });

  it("reads values that come compressed, though their length is that of the compressed body", async () => {
    const { url, faults } = await serveOne();
    const packed = gzipSync(bytes);
    faults.push((response) => {
      response.writeHead(200, { "content-encoding": "gzip", "content-length": packed.length }).end(packed);
      return true;
    });
    expect(await new HttpStore(url).get("a/0")).toEqual(bytes);
  });

  it("keeps the query of its URL, sends headers, and shows neither", async () => {
    const { url, requests, faults } = await serveOne();
    const store = new HttpStore(`${url}/?sig=secret`, { headers: { authorization: "Bearer secret" } });
    await store.get("a/0");
    expect(requests[0]).toMatchObject({
      url: "/data/a/0?sig=secret",
      headers: { authorization: "Bearer secret" },
    });
    faults.push(status(500));
    const error = await store.get("a/0").catch((failure) => failure);
    expect(JSON.stringify([store.description, error.message, error.details])).not.toContain("secret");
  });

  const sendOn =
    (location: string): Fault =>
    (response) => {
      response.writeHead(302, { location }).end();
      return true;
    };

  it("follows where the server sends a request, with its range", async () => {
    const { url, requests, faults } = await serve(new Map([["b/0", bytes]]));
    const store = new HttpStore(url, { headers: { "x-api-key": "secret" } });
    faults.push(sendOn("/data/a/1"), sendOn("../b/0"));
    expect(await store.get("a/0", { range: { offset: 10, length: 5 } })).toEqual(bytes.slice(10, 15));
    const seen = requests.map(({ url, headers }) => [url, headers.range, headers["x-api-key"]]);
    expect(seen).toEqual([
      ["/data/a/0", "bytes=10-14", "secret"],
      ["/data/a/1", "bytes=10-14", "secret"],
      ["/data/b/0", "bytes=10-14", "secret"],
    ]);
  });

  it("takes no header of the caller's to another server", async () => {
    const [here, there] = [await serveOne(), await serveOne()];
    const store = new HttpStore(here.url, { headers: { "x-api-key": "secret" } });
    here.faults.push(sendOn(`${there.url}/a/0`));
    expect(await store.get("a/0", { range: { suffix: 3 } })).toEqual(bytes.slice(-3));
    expect(there.requests[0]?.headers).toMatchObject({ range: "bytes=-3" });
    expect(there.requests[0]?.headers).not.toHaveProperty("x-api-key");
  });

  it.each([
    ["ftp://host/a", "ftp://host"],
    ["http://user:word@host/a", "http://host"],
    ["http://[", "302 without a Location header"],
  ])("does not follow to %s", async (location, found) => {
    const { url, faults, requests } = await serveOne();
    faults.push(sendOn(location));
    await expect(new HttpStore(url).get("a/0")).rejects.toMatchObject({
      code: "unsupported-operation",
      details: { found },
    });
    expect(requests).toHaveLength(1);
  });

  it("does not follow from https to http, nor in circles", async () => {
    const asked: string[] = [];
    const fetching = (location: string) => async (url: string | URL | Request) => {
      asked.push(String(url));
      return new Response(null, { status: 307, headers: { location } });
    };
    const circling = new HttpStore("https://host/x", { fetch: fetching("https://host/x/a") });
    await expect(circling.get("a")).rejects.toMatchObject({ code: "unsupported-operation" });
    expect(asked).toHaveLength(11);
    const weaker = new HttpStore("https://host/x", { fetch: fetching("http://host/x/a") });
    await expect(weaker.get("a")).rejects.toMatchObject({ details: { found: "http://host" } });
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

  const silence: Fault = () => true;
  const stopsAmid: Fault = (response) => {
    response.writeHead(200, { "content-length": bytes.length });
    response.write(bytes.subarray(0, 10));
    return true;
  };

  it.each([
    ["before its answer", [silence]],
    ["amid its answer", [stopsAmid]],
    ["after it has sent the request on", [sendOn("/data/a/1"), silence]],
  ])("gives up on a server that is silent %s, which may be asked again", async (_, given) => {
    const { url, faults, requests } = await serveOne();
    const store = new HttpStore(url, { retry: { timeout: 0.5, attempts: 1 } });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const failsAfter = async (asking: Promise<unknown>, count: number) => {
      const failing = expect(asking).rejects.toMatchObject(failure);
      await until(() => requests.length === count);
      await settled();
      vi.advanceTimersByTime(500);
      await failing;
    };
    faults.push(...given);
    const failure = {
      code: "transient",
      message: expect.stringContaining("did not respond"),
      details: { key: "a/0" },
    };
    await failsAfter(store.get("a/0"), given.length);
    expect(await store.get("a/0")).toEqual(bytes);
    faults.push(silence);
    await failsAfter(store.size("a/0"), given.length + 2);
  });

  it("waits for a server that is slow, not silent", async () => {
    const { url, faults } = await serveOne();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    faults.push((response) => {
      response.writeHead(200, { "content-length": bytes.length });
      const send = (at: number): unknown => {
        if (at >= bytes.length) return response.end();
        vi.advanceTimersByTime(60);
        return response.write(bytes.subarray(at, at + 4), () => setImmediate(send, at + 4));
      };
      send(0);
      return true;
    });
    expect(await new HttpStore(url, { retry: { timeout: 1, attempts: 1 } }).get("a/0")).toEqual(bytes);
  });

  it("asks the program before each request, also one that is sent on", async () => {
    const { url, faults, requests } = await serveOne();
    const before: number[] = [];
    const beforeRequest = async () => void before.push(requests.length);
    faults.push(sendOn("/data/a/0"));
    await new HttpStore(url, { beforeRequest }).get("a/0");
    expect(before).toEqual([0, 1]);
  });

  it("does not take the wait before a request for silence", async () => {
    const { url } = await serveOne();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const beforeRequest = async () => void (await vi.advanceTimersByTimeAsync(600));
    expect(
      await new HttpStore(url, { beforeRequest, retry: { timeout: "500ms", attempts: 1 } }).get("a/0"),
    ).toEqual(bytes);
  });

  it("escapes what a URL means otherwise", async () => {
    const { url, requests } = await serve(new Map([["a b/c?d#e%", bytes]]));
    expect(await new HttpStore(url).get("a b/c?d#e%")).toEqual(bytes);
    expect(requests[0]?.url).toBe("/data/a%20b/c%3Fd%23e%25");
  });

  it("reads no page without end that comes with a missing value or a failure", async () => {
    const { url, faults } = await serveOne();
    const closed: Promise<unknown>[] = [];
    for (const status of [404, 500]) {
      faults.push((response) => {
        closed.push(once(response, "close"));
        const send = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65536)));
        };
        response.writeHead(status).on("drain", send);
        send();
        return true;
      });
    }
    const store = new HttpStore(url, ONCE);
    expect(await store.get("a/0")).toBeUndefined();
    await expect(store.get("a/0")).rejects.toMatchObject({ code: "transient" });
    await Promise.all(closed);
  });

  it("uses its connection again behind missing values", async () => {
    const { url, faults } = await serveOne();
    const ports = new Set<number | undefined>();
    for (let i = 0; i < 20; i++) {
      faults.push((response) => {
        ports.add(response.socket?.remotePort);
        response.writeHead(404).write("no ");
        setImmediate(() => response.end("such page"));
        return true;
      });
      expect(await new HttpStore(url).get(`missing/${i}`)).toBeUndefined();
    }
    expect(ports.size).toBeLessThan(3);
  });

  it("refuses a value that is said to be larger than memory", async () => {
    const { url, faults } = await serveOne();
    faults.push((response) => {
      response.writeHead(200, { "content-length": 2 ** 50 }).write("x");
      return true;
    });
    await expect(new HttpStore(url).get("a/0")).rejects.toMatchObject({ code: "resource-limit" });
  });

  it("refuses headers that cannot be sent, and does not show them", () => {
    const make = () => new HttpStore("http://host/x", { headers: { authorization: "Bearer SeCrEt\nx" } });
    expect(make).toThrow(expect.objectContaining({ code: "invalid-option" }));
    expect(make).not.toThrow(/SeCrEt/);
  });

  it("passes on the reason of an abort", async () => {
    const { url, faults } = await serveOne();
    const abort = new AbortController();
    faults.push(() => {
      abort.abort(new Error("enough"));
      return true;
    });
    const reading = new HttpStore(url).get("a/0", { signal: abort.signal });
    await expect(reading).rejects.toMatchObject({ code: "aborted", cause: new Error("enough") });
  });

  it.each(["ftp://host/x", "not a url", "http://user:word@host/x"])("refuses %s", (url) => {
    expect(() => new HttpStore(url)).toThrow(expect.objectContaining({ code: "invalid-option" }));
  });
});
