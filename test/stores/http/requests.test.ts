import { createServer, type RequestListener } from "node:http";
import { createServer as createSocketServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { fetchByHttp } from "../../../src/stores/http/fetch-by-http.ts";
import { followRedirects } from "../../../src/stores/http/follow-redirects.ts";
import type { PlainFetch } from "../../../src/stores/http/http-response.ts";
import { countBytes, readBody, readBodyText, readUnstated } from "../../../src/stores/http/read-body.ts";
import { bodyOfStream } from "../../../src/stores/http/runtime-fetch.ts";
import { bytesOf } from "../../support/consume.ts";
import { settled, until } from "../../support/until.ts";
import { listening } from "../support.ts";

const take = (size: number) => new Uint8Array(size);
const headers = {};
const enough = new Error("enough");
const ABORTED = { code: "aborted", cause: enough };

describe("fetchByHttp", () => {
  /** A server, its URL, and how many connections were made to it. */
  async function serve(listener: RequestListener) {
    const server = createServer(listener);
    let connections = 0;
    server.on("connection", () => connections++);
    const url = new URL(`${await listening(server)}/a%20b?c=d%2Fe`);
    return { url, connections: () => connections };
  }

  /** A server that does with a connection what it will when something is asked. */
  async function serveBytes(answer: (socket: Socket) => void) {
    const sockets: Socket[] = [];
    const server = createSocketServer((socket) => {
      sockets.push(socket);
      socket.on("error", () => {}).once("data", () => answer(socket));
    });
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    return { url: new URL(await listening(server)), sockets };
  }

  it("fails as its signal does that cannot be listened to, and nobody else hears of the request", async () => {
    const unheard: unknown[] = [];
    const hear = (error: unknown) => unheard.push(error);
    const others = process.rawListeners("uncaughtException") as NodeJS.UncaughtExceptionListener[];
    process.removeAllListeners("uncaughtException").on("uncaughtException", hear);
    const nowhere = new URL("http://127.0.0.1:1");
    try {
      const signal = { aborted: false } as AbortSignal;
      await expect(fetchByHttp(nowhere, { signal })).rejects.toThrow(TypeError);
      await expect(fetchByHttp(nowhere, {})).rejects.toMatchObject({ code: "ECONNREFUSED" });
    } finally {
      process.removeListener("uncaughtException", hear);
      for (const listener of others) process.on("uncaughtException", listener);
    }
    expect(unheard).toEqual([]);
  });

  it("sends a body whole, with its length, and returns the answer", async () => {
    const sent = new Uint8Array(700_000).map((_, i) => i * 7);
    const seen: unknown[] = [];
    const { url } = await serve(async (request, response) => {
      const { method, url, headers } = request;
      seen.push(
        method,
        url,
        headers["x-a"],
        headers["content-length"],
        (await bytesOf(request)).equals(sent),
      );
      response.writeHead(201, "Made", { ETag: '"tag"', "set-cookie": ["a", "b"] }).end("text");
    });
    const answer = await fetchByHttp(url, { method: "PUT", headers: { "x-a": "b" }, body: sent });
    expect(seen).toEqual(["PUT", "/a%20b?c=d%2Fe", "b", "700000", true]);
    expect(answer).toMatchObject({ ok: true, status: 201, statusText: "Made" });
    const found = ["etag", "set-cookie"].map((name) => answer.headers.get(name));
    expect([...found, answer.headers.has("etag"), answer.headers.has("x-a")]).toEqual([
      '"tag"',
      "a, b",
      true,
      false,
    ]);
    expect(await readBodyText(answer, 100)).toBe("text");
  });

  it("keeps one connection open, also when no more of a body is read than is wanted", async () => {
    const { url, connections } = await serve(async (request, response) => {
      await bytesOf(request);
      if (request.method === "GET") response.end("0123456789");
      else if (request.method === "PUT") response.end();
      else response.setHeader("content-length", 300_000).end(new Uint8Array(300_000));
    });
    for (let i = 0; i < 3; i++) {
      expect((await fetchByHttp(url, { method: "PUT", headers, body: new Uint8Array(9) })).body).toBeNull();
      const { body } = await fetchByHttp(url, { headers });
      expect(await readBody(body, { skip: 2, length: 8 }, take)).toHaveLength(8);
      const { body: stated } = await fetchByHttp(url, { method: "POST", headers });
      expect(await readBody(stated, { skip: 0, length: 300_000 }, take)).toHaveLength(300_000);
    }
    expect(connections()).toBe(1);
  });

  it("cancels a body that was read, or was canceled before", async () => {
    const { url } = await serve((_, response) => response.end("0123456789"));
    const { body } = await fetchByHttp(url, { headers });
    await body?.read(() => false);
    await body?.cancel();
    const { body: other } = await fetchByHttp(url, { headers });
    await other?.cancel();
    await other?.cancel();
    await expect(other?.read(() => false)).rejects.toThrow("closed");
  });

  it("reads a body only as fast as it is asked for, and closes the connection of one that is not wanted", async () => {
    let sent = 0;
    let isClosed = false;
    const { url } = await serve((_, response) => {
      const send = () => {
        while (!isClosed && response.write(new Uint8Array(65_536))) sent += 65_536;
      };
      response.on("drain", send).on("close", () => {
        isClosed = true;
      });
      send();
    });
    const { body } = await fetchByHttp(url, { headers });
    // until no more is sent
    for (let before = -1; sent > before; await settled()) before = sent;
    expect(isClosed).toBe(false);
    await body?.cancel();
    await until(() => isClosed);
  });

  it("fails with the system's code where there is no answer, or a body is cut", async () => {
    const { url } = await serve((request, response) => {
      if (request.method === "PUT") return void request.socket.destroy();
      response.writeHead(200, { "content-length": 9 }).write("abc", () => response.destroy());
    });
    const put = fetchByHttp(url, { method: "PUT", headers, body: new Uint8Array(9) });
    await expect(put).rejects.toMatchObject({ code: "ECONNRESET" });
    const cut = { code: "transient", details: { found: "ECONNRESET" } };
    await expect(readBodyText(await fetchByHttp(url, { headers }), 100)).rejects.toMatchObject(cut);
  });

  it("ends with the signal's reason, before and amid the answer, and when all of it has come", async () => {
    let caller = new AbortController();
    const abort = () => void setImmediate(() => caller.abort(enough));
    const { url } = await serve(({ method }, response) => {
      if (method === "GET") response.writeHead(200, { "content-length": 9 }).write("abc");
      else if (method === "POST") response.end("0123456789");
      else abort();
    });
    const startReading = () => {
      abort();
      return false;
    };
    for (const method of ["HEAD", "GET"]) {
      caller = new AbortController();
      const asking = fetchByHttp(url, { method, headers, signal: caller.signal });
      const ended = method === "HEAD" ? asking : asking.then(({ body }) => body?.read(startReading));
      await expect(ended).rejects.toMatchObject(ABORTED);
    }
    caller = new AbortController();
    const { body } = await fetchByHttp(url, { method: "POST", signal: caller.signal });
    await settled();
    caller.abort(enough);
    await settled();
    await expect(body?.read(() => false)).rejects.toMatchObject(ABORTED);
  });

  it("fails where the server would speak another protocol", async () => {
    const { url } = await serveBytes((socket) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n");
    });
    await expect(fetchByHttp(url, {})).rejects.toThrow("closed before the response");
  });

  /** Answers with these texts, one after the other, and reads the body. */
  async function answerWith(texts: readonly string[], method = "GET") {
    const { url, sockets } = await serveBytes(async (socket) => {
      for (const text of texts) {
        socket.write(text, "latin1");
        await settled();
      }
      if (texts.at(-1) === "") socket.end();
    });
    const { status, headers, body } = await fetchByHttp(url, { method });
    return { status, headers, text: await readBodyText({ body }, 100), sockets };
  }
  const OK = "HTTP/1.1 200 OK\r\n";
  const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
  const CHUNKS = `${CHUNKED}3;a=b\r\nabc\r\nA \r\n0123456789\r\n0\r\nX: y\r\n\r\n`;

  it.each<[string, readonly string[], string]>([
    ["of chunks", [CHUNKS], "abc0123456789"],
    ["of chunks, byte by byte", [...CHUNKS], "abc0123456789"],
    ["until the connection ends", [`${OK}\r\nab`, "c", ""], "abc"],
    ["of a length, byte by byte", [...`${OK}content-length:3\r\n\r\nabc`], "abc"],
    [
      "after an early hint",
      [`HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n${OK}A: c\r\nContent-Length: 0\r\n\r\n`],
      "",
    ],
  ])("reads a body %s", async (_, texts, expected) => {
    const { status, text, sockets } = await answerWith(texts);
    expect([status, text]).toEqual([200, expected]);
    if (texts.at(-1) !== "") expect(sockets[0]?.destroyed).toBe(false);
  });

  it("closes a connection on which more arrives than a response", async () => {
    const { text, sockets } = await answerWith([
      `${OK}Content-Length: 1\r\n\r\naHTTP/1.1 200 Smuggled\r\n\r\n`,
    ]);
    expect(text).toBe("a");
    await until(() => sockets[0]?.closed);
    const { text: none, sockets: others } = await answerWith([`${OK}Content-Length: 1\r\n\r\na`], "HEAD");
    expect(none).toBe("");
    await until(() => others[0]?.closed);
  });

  it.each<[string, string]>([
    ["another protocol", "SSH-2.0-x\r\n\r\n"],
    ["another version", "HTTP/2 200 OK\r\n\r\n"],
    ["a folded header", `${OK}A: b\r\n c\r\n\r\n`],
    ["a bare line feed", `${OK}A: b\nContent-Length: 1\r\n\r\na`],
    ["two lengths", `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\na`],
    ["a length that is none", `${OK}Content-Length: 0x1\r\n\r\na`],
    ["a length and chunks", `${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["another coding", `${OK}Transfer-Encoding: gzip\r\n\r\na`],
    ["endless headers", `${OK}A: ${"b".repeat(20_000)}`],
    ["a chunk size that is none", `${CHUNKED}+1\r\na\r\n0\r\n\r\n`],
    ["a chunk longer than its size", `${CHUNKED}1\r\nab\r\n0\r\n\r\n`],
    ["endless chunk extensions", `${CHUNKED}1;${"b".repeat(20_000)}`],
  ])("fails for %s, and closes the connection", async (_, text) => {
    await expect(answerWith([text])).rejects.toThrow(/not valid HTTP|the connection failed/);
  });

  it("sends no header with a line break", async () => {
    const sending = fetchByHttp(new URL("http://127.0.0.1:1"), { headers: { a: "b\r\nsecret: c" } });
    await expect(sending).rejects.toThrow(/^the header a contains invalid characters$/);
  });

  it.each(["", "no"])("sends no more of a body that is answered before it came (by %j)", async (text) => {
    const { url, sockets } = await serveBytes((socket) => {
      socket.pause();
      socket.write(`HTTP/1.1 503 Slow Down\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
    });
    const sent = new Uint8Array(32 * 2 ** 20);
    const answer = await fetchByHttp(url, { method: "PUT", body: sent });
    expect([answer.status, await readBodyText(answer, 9)]).toEqual([503, text]);
    const [socket] = sockets;
    socket?.resume();
    await until(() => socket?.closed);
    expect(socket?.bytesRead).toBeLessThan(sent.length);
  });

  it("decodes a body that says it is compressed, and fails where it is not, or is cut", async () => {
    const packed = gzipSync("some text");
    const bodies = [packed, packed.subarray(0, -9), Buffer.from("some text")];
    const { url } = await serve(({ headers }, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(bodies[Number(headers["x-n"])]);
    });
    const get = (n: string) => fetchByHttp(url, { headers: { "x-n": n } });
    expect(await readBodyText(await get("0"), 100)).toBe("some text");
    for (const n of ["1", "2"])
      await expect(readBodyText(await get(n), 100)).rejects.toMatchObject({ code: "transient" });
    await (await get("0")).body?.cancel();
  });
});

describe("a redirection", () => {
  /** Asks a server that sends the first request on to `location`. */
  async function follow(from: string, location: string, resolve: () => Promise<string[]> = async () => []) {
    const asked: string[] = [];
    const fetch: PlainFetch = async (url) => {
      asked.push(url.href);
      const status = asked.length === 1 ? 302 : 200;
      const headers = new Headers(status === 302 ? { location } : {});
      return { ok: status === 200, status, statusText: "", headers, body: null };
    };
    const request = { method: "GET", own: {}, headers: {} } as const;
    const answer = await followRedirects(fetch, new URL(from), request, resolve).catch((error) => error);
    return { answer, asked };
  }
  const NOT_ALLOWED = {
    code: "unsupported-operation",
    reason: "the redirect leads to a forbidden address",
  };

  it.each<readonly [string, string]>([
    ["https://example.org/a", "http://169.254.169.254/latest/meta-data/"],
    ...[
      "http://169.254.169.254/latest/meta-data/",
      "http://2852039166/latest/",
      "http://[::ffff:169.254.169.254]/",
      "http://[fe80::1]/",
      "http://[fd00:ec2::254]/",
      "http://metadata.google.internal/computeMetadata/v1/",
      "http://127.0.0.1:9000/a",
      "https://127.1/a",
      "http://0.0.0.0/a",
      "http://0x7f000001/a",
      "http://[::1]/a",
      "http://[::ffff:7f00:1]/a",
      "http://localhost/a",
      "http://LOCALHOST./a",
      "http://x.localhost/a",
      "file:///etc/passwd",
      "data:text/plain,a",
      "ftp://example.org/a",
      "http://user:password@example.org/a",
    ].map((to) => ["http://example.org/a", to] as const),
    ["http://127.0.0.1/a", "http://169.254.169.254/a"],
    ["https://example.org/a", "http://example.org/a"],
  ])("from %s to %s is refused, and asks nobody", async (from, to) => {
    const { answer, asked } = await follow(from, to);
    expect(answer).toMatchObject(NOT_ALLOWED);
    expect(String(answer)).not.toContain("password");
    expect(asked).toEqual([from]);
  });

  it.each([
    ["http://127.0.0.1:8000/a", "http://localhost:9000/b"],
    ["http://[::1]/a", "http://127.0.0.1/b"],
    ["http://169.254.1.1/a", "http://169.254.1.2/b"],
    ["http://example.org/a", "https://cdn.example.org/b?sig=1"],
    ["http://10.0.0.1/a", "http://10.0.0.2/b"],
    ["http://example.org/a", "http://127.example.org/b"],
    ["http://example.org/a", "http://localhost.example.org/b"],
  ])("from %s to %s is followed", async (from, to) => {
    const { answer, asked } = await follow(from, to);
    expect(answer).toMatchObject({ status: 200 });
    expect(asked).toEqual([from, to]);
  });

  it.each([
    ["127.0.0.1", 1],
    ["169.254.169.254", 1],
    ["::1", 1],
    ["fe80::1%eth0", 1],
    ["::ffff:169.254.169.254", 1],
    ["0.0.0.0", 1],
    ["2001:db8::1", 2],
    [undefined, 2],
  ])("to a name whose address is %s asks nobody at addresses that are not allowed", async (address, asks) => {
    const resolve = async () => (address === undefined ? [] : ["203.0.113.7", address]);
    const { answer, asked } = await follow("http://example.org/a", "http://other.example.org/b", resolve);
    expect(answer).toMatchObject(asks === 1 ? NOT_ALLOWED : { status: 200 });
    expect(asked).toHaveLength(asks);
  });
});

describe("a body", () => {
  /** A body of so many pieces of 10 bytes, the numbers from 0 on. */
  function counted(pieces: number) {
    let sent = 0;
    const cancel = vi.fn();
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      if (sent === pieces) return controller.close();
      controller.enqueue(Uint8Array.from({ length: 10 }, (_, i) => sent * 10 + i));
      sent++;
    };
    const body = bodyOfStream(new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 }));
    return { body, cancel, sent: () => sent };
  }

  it.each([0, 7])("of which %d bytes are wanted is let go", async (length) => {
    const { body, cancel } = counted(Number.POSITIVE_INFINITY);
    expect(await readBody(body, { skip: 4, length }, take)).toHaveLength(length);
    expect(cancel).toHaveBeenCalledOnce();
  });

  it("that is a stream of bytes is read in one buffer, of which what is kept is copied", async () => {
    const buffers = new Set<number>();
    let sent = 0;
    const pull = ({ byobRequest }: ReadableByteStreamController) => {
      const view = byobRequest?.view as Uint8Array | undefined;
      buffers.add(view?.buffer.byteLength ?? 0);
      view?.set([sent++, sent++]);
      byobRequest?.respond(2);
    };
    const body = bodyOfStream(new ReadableStream({ type: "bytes", pull }));
    expect([...(await readUnstated(body, { offset: 1, length: 6 }, take))]).toEqual([1, 2, 3, 4, 5, 6]);
    expect([...buffers]).toEqual([64 * 1024]);
  });

  it.each([
    [{ offset: 5, length: 10 }, 5, 15],
    [{ offset: 28, length: 10 }, 28, 30],
    [{ offset: 40, length: 10 }, 30, 30],
    [{ offset: 27 }, 27, 30],
    [{ suffix: 3 }, 27, 30],
    [{ suffix: 12 }, 18, 30],
  ])("whose length nobody states gives the range %o, cut at its end", async (range, from, to) => {
    const expected = Array.from({ length: 30 }, (_, i) => i).slice(from, to);
    expect([...(await readUnstated(counted(3).body, range, take))]).toEqual(expected);
  });

  it("whose length nobody states is read no further than the range goes, and than the caller can use", async () => {
    const part = counted(Number.POSITIVE_INFINITY);
    await readUnstated(part.body, { offset: 5, length: 10 }, take);
    expect(part.sent()).toBe(2);
    const all = counted(Number.POSITIVE_INFINITY);
    const tooMuch = { code: "resource-limit", details: { expected: "at most 25 bytes" } };
    await expect(readUnstated(all.body, { offset: 0 }, take, 25)).rejects.toMatchObject(tooMuch);
    expect(all.sent()).toBe(3);
    for (const { cancel } of [part, all]) expect(cancel).toHaveBeenCalledOnce();
    expect(await countBytes(counted(1000).body)).toBe(10_000);
  });
});
