import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { serveRequests } from "../../../src/cli/server/serve-requests.ts";
import { deferred, statusOf } from "./asking.ts";

/** A server of the running test. */
async function served(...how: Parameters<typeof serveRequests>) {
  const server = await serveRequests(...how);
  onTestFinished(() => server.close());
  return server;
}

it("answers what the handler answers, with its status, headers and body", async () => {
  const { url } = await served(async (asked) => {
    const seen = `${asked.method} ${new URL(asked.url).pathname} ${asked.headers.get("range")}`;
    return new Response(seen, { status: 206, headers: { etag: '"1"' } });
  });
  const response = await fetch(`${url}a/b%20c`, { headers: { range: "bytes=0-1" } });
  expect([response.status, response.headers.get("etag")]).toEqual([206, '"1"']);
  expect(await response.text()).toBe("GET /a/b%20c bytes=0-1");
});

it("sends no body for HEAD", async () => {
  let isCanceled = false;
  const cancel = () => {
    isCanceled = true;
  };
  const headers = { "content-length": "5" };
  const { url } = await served(async () => new Response(new ReadableStream({ cancel }), { headers }));
  const response = await fetch(url, { method: "HEAD" });
  expect(response.headers.get("content-length")).toBe("5");
  expect(await response.text()).toBe("");
  expect(isCanceled).toBe(true);
});

it("rejects paths that lead elsewhere, and a method that no request can have", async () => {
  const { url } = await served(async () => new Response("answered"));
  for (const path of ["/a/../b", "/..", "/%2e%2e/b", "/a/.%2E?x", "/a\\..\\b", "/./a", "*", "http://other/a"])
    expect([path, await statusOf(url, { path })]).toEqual([path, 400]);
  expect(await statusOf(url, { method: "TRACE" })).toBe(405);
});

it("reads a body no faster than the client takes it, and aborts when the client goes", async () => {
  let pulled = 0;
  const [aborted, canceled] = [deferred<void>(), deferred<void>()];
  const { url } = await served(async (asked) => {
    asked.signal.addEventListener("abort", () => aborted.resolve());
    return new Response(
      new ReadableStream({
        pull(controller) {
          pulled++;
          controller.enqueue(new Uint8Array(2 ** 20));
        },
        cancel: () => canceled.resolve(),
      }),
    );
  });
  const { hostname, port } = new URL(url);
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
  await Promise.all([aborted.promise, canceled.promise]);
});

it("answers 500 without a word of what the handler threw, and cuts a body short that fails", async () => {
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => failures.push(error);
  const secret = await served(() => Promise.reject(new Error("secret")), { onFailure });
  const response = await fetch(secret.url);
  expect([response.status, await response.text()]).toEqual([500, "internal error\n"]);
  const body = () =>
    new ReadableStream({
      start: (controller) => controller.enqueue(new Uint8Array(10)),
      pull: (controller) => controller.error(new Error("broken")),
    });
  const broken = await served(async () => new Response(body()), { onFailure });
  await expect(fetch(broken.url).then((answer) => answer.arrayBuffer())).rejects.toThrow(
    /terminated|fetch failed/,
  );
  expect(failures).toEqual([new Error("secret"), new Error("broken")]);
});

it("closes while a request is answered by a handler that does not end", async () => {
  const asked = deferred<void>();
  const slow = await serveRequests(() => {
    asked.resolve();
    return new Promise(() => {});
  });
  const response = fetch(slow.url);
  response.catch(() => {});
  await asked.promise;
  await slow.close();
  await expect(response).rejects.toThrow("fetch failed");
  await expect(fetch(slow.url)).rejects.toThrow("fetch failed");
});
