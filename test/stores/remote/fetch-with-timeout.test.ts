import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { HttpResponse } from "../../../src/stores/http/http-response.ts";
import { plainFetch } from "../../../src/stores/http/plain-fetch.ts";
import { readText } from "../../../src/stores/http/read-body.ts";
import { HttpStore } from "../../../src/stores/http.ts";
import { fetchWithTimeout } from "../../../src/stores/remote/fetch-with-timeout.ts";
import { withoutPauses } from "../../support/no-pauses.ts";
import { until } from "../../support/until.ts";

const byFetch = plainFetch(fetch);
const nowhere = new URL("http://nowhere");
withoutPauses();

const closings: (() => void)[] = [];
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
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
    await until(() => pieces.join("") === text);
  };
  return { answer, read, came };
}

const silence = { code: "transient", reason: "the server did not respond in time" };

const textOf = (response: HttpResponse) => readText(response, 1e6);

/** As a `fetch` whose bodies have no end, of which so many bytes come every 100 ms. */
function dripping(bytes: number) {
  const seen = { requests: 0, pieces: 0 };
  const pull = (controller: ReadableStreamDefaultController) => {
    vi.advanceTimersByTime(100);
    seen.pieces++;
    controller.enqueue(new Uint8Array(bytes));
  };
  const drip = async () => {
    seen.requests++;
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), {
      headers: { "content-length": "100000" },
    });
  };
  return { seen, drip };
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
      await until(() => answers.length > seen);
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
    const { seen, drip } = dripping(1);
    vi.stubGlobal("fetch", drip);
    const store = new HttpStore("http://nowhere/s", { retry: { timeout: 0.15, attempts: 2 } });
    await expect(store.get("a")).rejects.toMatchObject({ code: "transient", details: { key: "a" } });
    // each 1.5 s, and as much more as 15 bytes give
    expect(seen).toEqual({ requests: 2, pieces: 32 });
  });

  it("waits longer for a body of which 1 KiB arrives a second, or more", async () => {
    const { seen, drip } = dripping(103);
    const { body } = await fetchWithTimeout(plainFetch(drip), nowhere, {}, { silence: 200 });
    await body?.read(() => seen.pieces > 300);
    expect(seen.requests).toBe(1);
  });

  it("fails when the body comes drop by drop, for longer than anybody waits", async () => {
    const { seen, drip } = dripping(1);
    const response = await fetchWithTimeout(plainFetch(drip), nowhere, {}, { silence: 300 });
    await expect(textOf(response)).rejects.toMatchObject({
      code: "transient",
      reason: "the server sends too slowly",
    });
    // 3 s, and as many more as 30 bytes give
    expect(seen.pieces).toBe(31);
  });
});
