import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { HttpResponse } from "../../../src/stores/http/http-response.ts";
import { plainFetch } from "../../../src/stores/http/plain-fetch.ts";
import { readText } from "../../../src/stores/http/read-body.ts";
import { HttpStore } from "../../../src/stores/http.ts";
import { fetchWithTimeout } from "../../../src/stores/remote/fetch-with-timeout.ts";
import { withRetry } from "../../../src/stores/with/retry.ts";

const byFetch = plainFetch(fetch);

const closings: (() => void)[] = [];
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => {
  vi.useRealTimers();
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

/** Serves an answer that goes on as the test wants. */
async function serveParts(begin: string) {
  const answers: ServerResponse[] = [];
  const url = await serve((_, response) => {
    answers.push(response);
    response.writeHead(200).write(begin);
  });
  const response = await fetchWithTimeout(byFetch, url, {}, { silence: 200 });
  const [answer] = answers;
  const { body } = response;
  if (!answer || !body) throw new Error("there is no body");
  const pieces: string[] = [];
  const read = () =>
    body.read((piece) => {
      pieces.push(Buffer.from(piece).toString());
      return false;
    });
  const came = async (text: string) => {
    while (pieces.join("") !== text) await setImmediate();
  };
  return { answer, read, came };
}

const silence = { code: "transient", reason: "the server did not respond in time" };

const textOf = (response: HttpResponse) => readText(response, 1e6);

/** Sends so many bytes every 10 ms, for ever; counts requests. */
async function serveDrops(bytes: number) {
  const drops = { requests: 0, url: new URL("http://nowhere") };
  drops.url = await serve((_, response) => {
    drops.requests++;
    response.writeHead(200, { "content-length": 100_000 });
    const drip = setInterval(() => response.write(Buffer.alloc(bytes)), 10);
    response.on("close", () => clearInterval(drip));
  });
  return drops;
}

describe("fetchWithTimeout", () => {
  it("passes on an answer as it is", async () => {
    const url = await serve((_, response) => response.writeHead(206, "Part", { a: "b" }).end("text"));
    const response = await fetchWithTimeout(byFetch, url, {}, { silence: 1000 });
    expect([response.status, response.statusText, response.headers.get("a")]).toEqual([206, "Part", "b"]);
    expect(await textOf(response)).toBe("text");
  });

  it("fails when there is no answer", async () => {
    const url = await serve(() => {});
    const failing = expect(fetchWithTimeout(byFetch, url, {}, { silence: 50 })).rejects.toMatchObject(
      silence,
    );
    await vi.advanceTimersByTimeAsync(50);
    await failing;
  });

  it("fails when the body stops, and gives the connection up", async () => {
    const { answer, read, came } = await serveParts("abc");
    const closed = once(answer, "close");
    const failing = expect(read()).rejects.toMatchObject(silence);
    await came("abc");
    await vi.advanceTimersByTimeAsync(200);
    await failing;
    await closed;
  });

  it("waits for a body that comes slowly, piece by piece", async () => {
    const { answer, read, came } = await serveParts("a");
    const reading = read();
    await came("a");
    for (const text of ["ab", "abc", "abcd"]) {
      await vi.advanceTimersByTimeAsync(199);
      answer.write(text.slice(-1));
      await came(text);
    }
    answer.end();
    await reading;
  });

  it("not counted the time in which nobody reads", async () => {
    const { answer, read, came } = await serveParts("abc");
    await vi.advanceTimersByTimeAsync(1000);
    const reading = read();
    await came("abc");
    answer.end("d");
    await reading;
    await came("abcd");
  });

  it("gives a body that is sent the time that a slow connection takes", async () => {
    let asked = (_: ServerResponse) => {};
    const answer = new Promise<ServerResponse>((resolve) => {
      asked = resolve;
    });
    const url = await serve((_, response) => asked(response));
    const send = () =>
      fetchWithTimeout(byFetch, url, { method: "PUT", body: new Uint8Array(65_536) }, { silence: 100 });
    const sending = send();
    await vi.advanceTimersByTimeAsync(1099);
    (await answer).end();
    expect((await sending).status).toBe(200);
    const failing = expect(send()).rejects.toMatchObject(silence);
    await vi.advanceTimersByTimeAsync(1100);
    await failing;
  });

  it("ends with the caller's reason, before and amid the answer", async () => {
    const url = await serve((_, response) => void response.writeHead(200).write("a"));
    const caller = new AbortController();
    const response = await fetchWithTimeout(byFetch, url, { signal: caller.signal }, { silence: 10_000 });
    const reading = textOf(response);
    caller.abort(new Error("enough"));
    await expect(reading).rejects.toMatchObject({ code: "aborted", cause: new Error("enough") });
    await expect(
      fetchWithTimeout(byFetch, url, { signal: caller.signal }, { silence: 10_000 }),
    ).rejects.toMatchObject({
      code: "aborted",
      cause: new Error("enough"),
    });
  });

  it("waits for the answer to what its caller gives up, for as long as an option says", async () => {
    const answers: ServerResponse[] = [];
    const url = await serve((_, response) => void answers.push(response));
    const send = async (caller: AbortController) => {
      const seen = answers.length;
      const sending = fetchWithTimeout(
        byFetch,
        url,
        { method: "PUT", signal: caller.signal },
        { silence: 10_000, linger: 500 },
      );
      await vi.waitFor(() => expect(answers.length).toBe(seen + 1));
      caller.abort(new Error("enough"));
      return { sending };
    };
    const { sending } = await send(new AbortController());
    await vi.advanceTimersByTimeAsync(499);
    answers[0]?.end();
    expect((await sending).status).toBe(200);
    const late = await send(new AbortController());
    const failing = expect(late.sending).rejects.toMatchObject({
      code: "aborted",
      cause: new Error("enough"),
    });
    await vi.advanceTimersByTimeAsync(500);
    await failing;
  });

  it("fails after ten times the time-out at each attempt of a store, however long the body would be", async () => {
    vi.useRealTimers();
    const drops = await serveDrops(1);
    const server = new HttpStore(drops.url.href, { timeout: 150 });
    const store = withRetry(server, { attempts: 2 });
    const reading = store.get("a");
    await expect(reading).rejects.toMatchObject({ code: "transient", details: { key: "a" } });
    expect(drops.requests).toBe(2);
  }, 20_000);

  it("waits longer for a body of which 1 KiB arrives a second, or more", async () => {
    vi.useRealTimers();
    const drops = await serveDrops(100);
    const { body } = await fetchWithTimeout(byFetch, drops.url, {}, { silence: 200 });
    const begun = performance.now();
    await body?.read(() => performance.now() - begun > 2500);
    expect(drops.requests).toBe(1);
  });

  it("fails when the body comes drop by drop, for longer than anybody waits", async () => {
    vi.useRealTimers();
    let sent = 0;
    const url = await serve((_, response) => {
      const drip = setInterval(() => response.write("x") && sent++, 10);
      response.on("close", () => clearInterval(drip));
    });
    const response = await fetchWithTimeout(byFetch, url, {}, { silence: 300 });
    await expect(textOf(response)).rejects.toMatchObject({
      code: "transient",
      reason: "the server sends too slowly",
    });
    expect(sent).toBeGreaterThan(10);
  });
});
