import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readBodyText } from "../../../src/stores/http/read-body.ts";
import { plainFetch } from "../../../src/stores/http/runtime-fetch.ts";
import { HttpStore } from "../../../src/stores/http.ts";
import { fetchWithTimeout } from "../../../src/stores/remote/fetch-with-timeout.ts";
import { withoutPauses } from "../../support/no-pauses.ts";
import { until } from "../../support/until.ts";
import { listening } from "../support.ts";

const byFetch = plainFetch(fetch);
const enough = new Error("enough");
const ABORTED = { code: "aborted", cause: enough };
const SILENCE = { code: "transient", reason: "the server did not respond in time" };

withoutPauses();
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A server whose answers `answer` begins, and tests go on with. */
async function serve(answer: (response: ServerResponse) => void = () => {}) {
  const answers: ServerResponse[] = [];
  const server = createServer((_, response) => {
    answers.push(response);
    answer(response);
  });
  return { url: new URL(await listening(server)), answers };
}

/** An answer that begins so, and goes on as the test wants. */
async function serveParts(begin: string) {
  const { url, answers } = await serve((response) => response.writeHead(200).write(begin));
  const { body } = await fetchWithTimeout(byFetch, url, {}, { silence: 200 });
  const [answer] = answers;
  if (!answer || !body) throw new Error("there is no body");
  let found = "";
  const read = () =>
    body.read((piece) => {
      found += Buffer.from(piece).toString();
      return false;
    });
  return { answer, read, came: (text: string) => until(() => found === text) };
}

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
    const headers = { "content-length": "100000" };
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { headers });
  };
  const get = (silence: number) =>
    fetchWithTimeout(plainFetch(drip), new URL("http://nowhere"), {}, { silence });
  return { seen, drip, get };
}

describe("fetchWithTimeout", () => {
  it("passes on an answer as it is, and fails when there is none", async () => {
    const { url } = await serve((response) => response.writeHead(206, "Part", { a: "b" }).end("text"));
    const response = await fetchWithTimeout(byFetch, url, {}, { silence: 1000 });
    expect([response.status, response.statusText, response.headers.get("a")]).toEqual([206, "Part", "b"]);
    expect(await readBodyText(response, 1e6)).toBe("text");
    const asking = fetchWithTimeout(byFetch, (await serve()).url, {}, { silence: 50 });
    const failing = expect(asking).rejects.toMatchObject(SILENCE);
    await vi.advanceTimersByTimeAsync(50);
    await failing;
  });

  it("fails when the body stops, and gives the connection up", async () => {
    const { answer, read, came } = await serveParts("abc");
    const closed = once(answer, "close");
    const failing = expect(read()).rejects.toMatchObject(SILENCE);
    await came("abc");
    await vi.advanceTimersByTimeAsync(200);
    await failing;
    await closed;
  });

  it("waits for a body that comes slowly, piece by piece, not counted the time in which nobody reads", async () => {
    const { answer, read, came } = await serveParts("a");
    await vi.advanceTimersByTimeAsync(1000);
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

  it("gives a body that is sent the time that a slow connection takes", async () => {
    const { url, answers } = await serve();
    const send = () =>
      fetchWithTimeout(byFetch, url, { method: "PUT", body: new Uint8Array(65_536) }, { silence: 100 });
    const sending = send();
    await vi.advanceTimersByTimeAsync(1099);
    await until(() => answers.length > 0);
    answers[0]?.end();
    expect((await sending).status).toBe(200);
    const failing = expect(send()).rejects.toMatchObject(SILENCE);
    await vi.advanceTimersByTimeAsync(1100);
    await failing;
  });

  it("ends with the caller's reason, before and amid the answer", async () => {
    const { url } = await serve((response) => response.writeHead(200).write("a"));
    const caller = new AbortController();
    const get = () => fetchWithTimeout(byFetch, url, { signal: caller.signal }, { silence: 10_000 });
    const reading = readBodyText(await get(), 1e6);
    caller.abort(enough);
    await expect(reading).rejects.toMatchObject(ABORTED);
    await expect(get()).rejects.toMatchObject(ABORTED);
  });

  it("waits for the answer to what its caller gives up, for as long as an option says", async () => {
    const { url, answers } = await serve();
    const sendAndAbort = async () => {
      const caller = new AbortController();
      const seen = answers.length;
      const limits = { silence: 10_000, linger: 500 };
      const sending = fetchWithTimeout(byFetch, url, { method: "PUT", signal: caller.signal }, limits);
      await until(() => answers.length > seen);
      caller.abort(enough);
      return { sending };
    };
    const { sending } = await sendAndAbort();
    await vi.advanceTimersByTimeAsync(499);
    answers[0]?.end();
    expect((await sending).status).toBe(200);
    const late = await sendAndAbort();
    const failing = expect(late.sending).rejects.toMatchObject(ABORTED);
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

  it("waits longer for a body of which 1 KiB arrives a second, or more, but not drop by drop", async () => {
    const fast = dripping(103);
    const { body } = await fast.get(200);
    await body?.read(() => fast.seen.pieces > 300);
    const slow = dripping(1);
    const tooSlow = { code: "transient", reason: "the server sends too slowly" };
    await expect(readBodyText(await slow.get(300), 1e6)).rejects.toMatchObject(tooSlow);
    // 3 s, and as many more as 30 bytes give
    expect(slow.seen.pieces).toBe(31);
  });
});
