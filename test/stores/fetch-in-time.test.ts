import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { fetchInTime } from "../../src/stores/fetch-in-time.ts";

const closings: (() => void)[] = [];
afterEach(() => {
  for (const close of closings.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<URL> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closings.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe("fetchInTime", () => {
  it("passes on an answer as it is", async () => {
    const url = await serve((_, response) => response.writeHead(206, "Part", { a: "b" }).end("text"));
    const response = await fetchInTime(fetch, url, {}, 1000);
    expect([response.status, response.statusText, response.headers.get("a")]).toEqual([206, "Part", "b"]);
    expect(await response.text()).toBe("text");
  });

  it("fails when there is no answer", async () => {
    const url = await serve(() => {});
    await expect(fetchInTime(fetch, url, {}, 50)).rejects.toMatchObject({
      code: "transient",
      reason: "the server is silent",
    });
  });

  it("fails when the body stops, and gives the connection up", async () => {
    let isClosed = false;
    const url = await serve((_, response) => {
      response.on("close", () => {
        isClosed = true;
      });
      response.writeHead(200, { "content-length": 9 }).write("abc");
    });
    const response = await fetchInTime(fetch, url, {}, 50);
    await expect(response.text()).rejects.toMatchObject({ code: "transient" });
    await pause(20);
    expect(isClosed).toBe(true);
  });

  it("waits for a body that comes slowly, piece by piece", async () => {
    const url = await serve(async (_, response) => {
      response.writeHead(200);
      for (const piece of "abcdef") {
        response.write(piece);
        await pause(60);
      }
      response.end();
    });
    const response = await fetchInTime(fetch, url, {}, 200);
    expect(await response.text()).toBe("abcdef");
  });

  it("does not count the time in which nobody reads", async () => {
    const url = await serve((_, response) => response.end("x".repeat(1e6)));
    const response = await fetchInTime(fetch, url, {}, 100);
    await pause(200);
    expect(await response.text()).toHaveLength(1e6);
  });

  it("gives a body that is sent the time that a slow connection takes", async () => {
    const url = await serve(async (request, response) => {
      await pause(300);
      for await (const _ of request);
      response.end();
    });
    const request = { method: "PUT", body: new Uint8Array(65_536) };
    expect((await fetchInTime(fetch, url, request, 100)).status).toBe(200);
  });

  it("ends with the caller's reason, before and amid the answer", async () => {
    const url = await serve((_, response) => void response.writeHead(200).write("a"));
    const caller = new AbortController();
    const response = await fetchInTime(fetch, url, { signal: caller.signal }, 10_000);
    const reading = response.text();
    caller.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    await expect(fetchInTime(fetch, url, { signal: caller.signal }, 10_000)).rejects.toThrow("enough");
  });
});
