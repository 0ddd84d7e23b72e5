import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { fetchByHttp } from "../../../src/stores/http/fetch-by-http.ts";
import { readBody, readText } from "../../../src/stores/http/read-body.ts";
import { bytesOf } from "../../support/consume.ts";
import { settled, until } from "../../support/until.ts";

const closings: (() => void)[] = [];
afterEach(() => {
  for (const close of closings.splice(0)) close();
});

/** A server on 127.0.0.1, its URL, and how many connections were made to it. */
async function serve(listener: RequestListener) {
  const server = createServer(listener);
  let connections = 0;
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closings.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/a%20b?c=d%2Fe`);
  return { url, connections: () => connections };
}

/** A server on 127.0.0.1 that does with a connection what it will when something is asked. */
async function serveBytes(answer: (socket: Socket) => void) {
  const sockets: Socket[] = [];
  const server = createSocketServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {}).once("data", () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closings.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), sockets };
}

describe("fetchByHttp", () => {
  it("fails as its signal does that cannot be listened to, and nobody else hears of the request", async () => {
    const { url } = await serveBytes(() => {});
    for (const close of closings.splice(0)) close();
    const unheard: unknown[] = [];
    const hear = (error: unknown) => unheard.push(error);
    const others = process.rawListeners("uncaughtException") as NodeJS.UncaughtExceptionListener[];
    process.removeAllListeners("uncaughtException").on("uncaughtException", hear);
    try {
      const signal = { aborted: false } as AbortSignal;
      await expect(fetchByHttp(url, { signal })).rejects.toThrow(TypeError);
      await expect(fetchByHttp(url, {})).rejects.toMatchObject({ code: "ECONNREFUSED" });
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
      const body = await bytesOf(request);
      seen.push(request.method, request.url, request.headers["x-a"], request.headers["content-length"]);
      seen.push(body.equals(sent));
      response.writeHead(201, "Made", { ETag: '"tag"', "set-cookie": ["a", "b"] }).end("text");
    });
    const answer = await fetchByHttp(url, { method: "PUT", headers: { "x-a": "b" }, body: sent });
    expect(seen).toEqual(["PUT", "/a%20b?c=d%2Fe", "b", "700000", true]);
    expect(answer).toMatchObject({ ok: true, status: 201, statusText: "Made" });
    expect(answer.headers.get("etag")).toBe('"tag"');
    expect(answer.headers.get("set-cookie")).toBe("a, b");
    expect([answer.headers.has("etag"), answer.headers.has("x-a")]).toEqual([true, false]);
    expect(await readText(answer, 100)).toBe("text");
  });

  it("keeps one connection open, also when no more of a body is read than is wanted", async () => {
    const { url, connections } = await serve(async (request, response) => {
      await bytesOf(request);
      response.end(request.method === "PUT" ? undefined : "0123456789");
    });
    const headers = {};
    for (let i = 0; i < 3; i++) {
      expect((await fetchByHttp(url, { method: "PUT", headers, body: new Uint8Array(9) })).body).toBeNull();
      const { body } = await fetchByHttp(url, { headers });
      expect(await readBody(body, { skip: 2, length: 8 }, (size) => new Uint8Array(size))).toHaveLength(8);
    }
    expect(connections()).toBe(1);
  });

  it("keeps one connection open for bodies of a stated length", async () => {
    const { url, connections } = await serve((_, response) => {
      response.setHeader("content-length", 300_000).end(new Uint8Array(300_000));
    });
    for (let i = 0; i < 3; i++) {
      const { body } = await fetchByHttp(url, { headers: {} });
      const read = await readBody(body, { skip: 0, length: 300_000 }, (size) => new Uint8Array(size));
      expect(read).toHaveLength(300_000);
    }
    expect(connections()).toBe(1);
  });

  it("cancels a body that was read, or was cancelled before", async () => {
    const { url } = await serve((_, response) => response.end("0123456789"));
    const { body } = await fetchByHttp(url, { headers: {} });
    await body?.read(() => false);
    await body?.cancel();
    const { body: other } = await fetchByHttp(url, { headers: {} });
    await other?.cancel();
    await other?.cancel();
    await expect(other?.read(() => false)).rejects.toThrow("closed");
  });

  it("follows no redirection", async () => {
    const { url } = await serve((_, response) => response.writeHead(307, { location: "/b" }).end());
    const answer = await fetchByHttp(url, { headers: {} });
    expect([answer.ok, answer.status, answer.headers.get("location")]).toEqual([false, 307, "/b"]);
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
    const { body } = await fetchByHttp(url, { headers: {} });
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
    const headers = {};
    const put = fetchByHttp(url, { method: "PUT", headers, body: new Uint8Array(9) });
    await expect(put).rejects.toMatchObject({ code: "ECONNRESET" });
    const answer = await fetchByHttp(url, { headers });
    await expect(readText(answer, 100)).rejects.toMatchObject({
      code: "transient",
      details: { found: "ECONNRESET" },
    });
  });

  it("ends with the signal's reason, before and amid the answer", async () => {
    const reason = new Error("enough");
    let caller = new AbortController();
    const abort = () => void setImmediate(() => caller.abort(reason));
    const { url } = await serve((request, response) => {
      if (request.method === "GET") response.writeHead(200, { "content-length": 9 }).write("abc");
      else abort();
    });
    const startReading = () => {
      abort();
      return false;
    };
    for (const method of ["HEAD", "GET"]) {
      caller = new AbortController();
      const asking = fetchByHttp(url, { method, headers: {}, signal: caller.signal });
      const ended = method === "HEAD" ? asking : asking.then(({ body }) => body?.read(startReading));
      await expect(ended).rejects.toMatchObject({ code: "aborted", cause: reason });
    }
  });

  it("fails where the server would speak another protocol", async () => {
    const { url } = await serveBytes((socket) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n");
    });
    await expect(fetchByHttp(url, {})).rejects.toThrow("closed before the response");
  });

  it("ends no body as though it were whole where the caller gives up what has come already", async () => {
    const { url } = await serve((_, response) => response.end("0123456789"));
    const caller = new AbortController();
    const { body } = await fetchByHttp(url, { signal: caller.signal });
    await settled();
    const reason = new Error("enough");
    caller.abort(reason);
    await settled();
    await expect(body?.read(() => false)).rejects.toMatchObject({ code: "aborted", cause: reason });
  });

  it.each(["0", "2"])(
    "sends no more of a body that is answered, by %s bytes, before it came",
    async (length) => {
      const { url, sockets } = await serveBytes((socket) => {
        socket.pause();
        socket.write(
          `HTTP/1.1 503 Slow Down\r\nContent-Length: ${length}\r\n\r\n${"no".slice(0, Number(length))}`,
        );
      });
      const sent = new Uint8Array(32 * 2 ** 20);
      const answer = await fetchByHttp(url, { method: "PUT", body: sent });
      expect([answer.status, (await readText(answer, 9)).length]).toEqual([503, Number(length)]);
      const [socket] = sockets;
      socket?.resume();
      await until(() => socket?.closed);
      expect(socket?.bytesRead).toBeLessThan(sent.length);
    },
  );

  it("decodes a body that says it is compressed, and fails where it is not, or is cut", async () => {
    const packed = gzipSync("some text");
    const bodies = [packed, packed.subarray(0, -9), Buffer.from("some text")];
    const { url } = await serve((request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(bodies[Number(request.headers["x-n"])]);
    });
    const text = async (n: string) => readText(await fetchByHttp(url, { headers: { "x-n": n } }), 100);
    expect(await text("0")).toBe("some text");
    for (const n of ["1", "2"]) await expect(text(n)).rejects.toMatchObject({ code: "transient" });
    const answer = await fetchByHttp(url, { headers: { "x-n": "0" } });
    await answer.body?.cancel();
  });
});
