import { request } from "node:http";
import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { type RequestServer, serveRequests } from "../../../src/cli/server/serve-requests.ts";

let server: RequestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** What the server answers to a target that no parser of URLs has touched. */
function statusOf(target: string, method = "GET"): Promise<number | undefined> {
  const { hostname, port } = new URL(server?.url ?? "");
  return new Promise((resolve, reject) => {
    request({ hostname, port, path: target, method }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

/** A promise that is resolved from outside. */
function event(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe("serveRequests", () => {
  it("answers what the handler answers, with its status, headers and body", async () => {
    server = await serveRequests(async (asked) => {
      const seen = `${asked.method} ${new URL(asked.url).pathname} ${asked.headers.get("range")}`;
      return new Response(seen, { status: 206, headers: { etag: '"1"' } });
    });
    const response = await fetch(`${server.url}a/b%20c`, { headers: { range: "bytes=0-1" } });
    expect(response.status).toBe(206);
    expect(response.headers.get("etag")).toBe('"1"');
    expect(await response.text()).toBe("GET /a/b%20c bytes=0-1");
  });

  it("sends no body for HEAD", async () => {
    let isCancelled = false;
    const body = () =>
      new ReadableStream({
        cancel() {
          isCancelled = true;
        },
      });
    server = await serveRequests(async () => new Response(body(), { headers: { "content-length": "5" } }));
    const response = await fetch(server.url, { method: "HEAD" });
    expect(response.headers.get("content-length")).toBe("5");
    expect(await response.text()).toBe("");
    expect(isCancelled).toBe(true);
  });

  it.each(["/a/../b", "/..", "/%2e%2e/b", "/a/.%2E?x", "/a\\..\\b", "/./a", "*", "http://other/a"])(
    "rejects %s",
    async (target) => {
      server = await serveRequests(async () => new Response("answered"));
      expect(await statusOf(target)).toBe(400);
    },
  );

  it("rejects a method that no request can have", async () => {
    server = await serveRequests(async () => new Response("answered"));
    expect(await statusOf("/", "TRACE")).toBe(405);
  });

  it("reads a body no faster than the client takes it, and aborts when the client goes", async () => {
    let pulled = 0;
    const aborted = event();
    const cancelled = event();
    server = await serveRequests(async (asked) => {
      asked.signal.addEventListener("abort", () => aborted.resolve());
      return new Response(
        new ReadableStream({
          pull(controller) {
            pulled++;
            controller.enqueue(new Uint8Array(2 ** 20));
          },
          cancel: () => cancelled.resolve(),
        }),
      );
    });
    const { hostname, port } = new URL(server.url);
    const client = connect(Number(port), hostname);
    client.pause().write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    // nothing of this process has to happen before the next piece but that it is asked for
    let before = 0;
    for (let turns = 0; turns < 100 && pulled < 64; before = pulled) {
      await setImmediate();
      turns = pulled > 0 && pulled === before ? turns + 1 : 0;
    }
    client.destroy();
    expect(pulled).toBeLessThan(64);
    await Promise.all([aborted.promise, cancelled.promise]);
  });

  it("answers 500 without a word of what the handler threw", async () => {
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => failures.push(error);
    server = await serveRequests(() => Promise.reject(new Error("secret")), { onFailure });
    const response = await fetch(server.url);
    expect(response.status).toBe(500);
    expect(await response.text()).toBe("internal error\n");
    expect(failures).toEqual([new Error("secret")]);
  });

  it("cuts a body short that fails", async () => {
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => failures.push(error);
    const body = () =>
      new ReadableStream({
        start: (controller) => controller.enqueue(new Uint8Array(10)),
        pull: (controller) => controller.error(new Error("broken")),
      });
    server = await serveRequests(async () => new Response(body()), { onFailure });
    await expect(fetch(server.url).then((response) => response.arrayBuffer())).rejects.toThrow();
    expect(failures).toEqual([new Error("broken")]);
  });

  it("closes while a request is answered by a handler that does not end", async () => {
    const asked = event();
    const slow = await serveRequests(() => {
      asked.resolve();
      return new Promise(() => {});
    });
    const response = fetch(slow.url);
    response.catch(() => {});
    await asked.promise;
    await slow.close();
    await expect(response).rejects.toThrow();
    await expect(fetch(slow.url)).rejects.toThrow();
  });

  it("says why it cannot listen", async () => {
    server = await serveRequests(async () => new Response());
    const port = Number(new URL(server.url).port);
    const taken = serveRequests(async () => new Response(), { port });
    await expect(taken).rejects.toMatchObject({ code: "invalid-option", message: /another program/ });
    const foreign = serveRequests(async () => new Response(), { host: "192.0.2.1" });
    await expect(foreign).rejects.toMatchObject({ code: "invalid-option", message: /not an address/ });
  });
});
