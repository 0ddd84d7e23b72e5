// @module-tag sampled
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import { fetchByHttp } from "../../../src/stores/http/fetch-by-http.ts";
import { samples } from "../../support/samples.ts";
import { listening } from "../support.ts";

const OK = "HTTP/1.1 200 OK\r\n";
const chunk = (data: Buffer) =>
  Buffer.concat([Buffer.from(`${data.length.toString(16)};name=value\r\n`), data, Buffer.from("\r\n")]);
const inChunks = (body: Buffer, end: string) => {
  const half = body.length >> 1;
  const parts = [body.subarray(0, half), body.subarray(half)].filter(({ length }) => length > 0);
  return [`${OK}Transfer-Encoding: chunked\r\n\r\n`, ...parts.map(chunk), `0\r\n${end}\r\n`];
};

/** Responses with a body, and how each of them ends: with an open connection, closed, or before its end. */
const RESPONSES: Readonly<Record<string, (body: Buffer) => (string | Buffer)[]>> = {
  length: (body) => [`${OK}Content-Length: ${body.length}\r\n\r\n`, body],
  chunks: (body) => inChunks(body, ""),
  trailers: (body) => inChunks(body, "X-Sum: 1\r\n"),
  hints: (body) => [`HTTP/1.1 103 Early Hints\r\n\r\n${OK}content-length:${body.length}\r\n\r\n`, body],
  surplus: (body) => [`${OK}Content-Length: ${body.length}\r\n\r\n`, body, "HTTP/1.1 "],
  closed: (body) => [`${OK}\r\n`, body],
  cut: (body) => [`${OK}Content-Length: ${body.length + 1}\r\n\r\n`, body],
  "cut in chunks": (body) => inChunks(body, "").slice(0, -1),
  noise: (body) => [body, "\r\n\r\n"],
};
const CLOSED = ["closed", "cut", "cut in chunks", "noise"];
const BROKEN = ["cut", "cut in chunks", "noise"];

/** Sends bytes in pieces that end at these places. */
async function sendInPieces(socket: Socket, bytes: Buffer, ends: readonly number[]): Promise<void> {
  let sent = 0;
  for (const end of [...ends.filter((end) => end < bytes.length).sort((a, b) => a - b), bytes.length]) {
    if (end === sent || socket.destroyed) continue;
    socket.write(bytes.subarray(sent, end));
    sent = end;
    await setImmediate();
  }
}

/** The whole body; pieces are of the connection's buffer, which the next ones overwrite. */
async function contents(url: URL): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  const { body } = await fetchByHttp(url, {});
  await body?.read((piece) => {
    pieces.push(piece.slice());
    return false;
  });
  return Buffer.concat(pieces);
}

it("reads the same response in whatever pieces it arrives, on a connection that others used before", async () => {
  let answer = async (_: Socket) => {};
  const server = createServer((socket) =>
    socket
      .on("error", () => {})
      .setNoDelay()
      .on("data", () => void answer(socket)),
  );
  const url = new URL(await listening(server));
  const response = fc.record({
    kind: fc.constantFrom(...Object.keys(RESPONSES)),
    body: fc.uint8Array({ maxLength: 400 }),
    times: fc.constantFrom(1, 1, 500),
    ends: fc.array(fc.nat({ max: 600 }), { maxLength: 12 }),
  });
  const property = fc.asyncProperty(response, async ({ kind, body, times, ends }) => {
    const expected = Buffer.concat(Array.from({ length: times }, () => body));
    const bytes = Buffer.concat((RESPONSES[kind]?.(expected) ?? []).map((part) => Buffer.from(part)));
    const isSent = new Promise<void>((resolve) => {
      answer = async (socket) => {
        await sendInPieces(socket, bytes, ends);
        if (CLOSED.includes(kind)) socket.end();
        if (kind === "surplus") await once(socket, "close");
        resolve();
      };
    });
    const call = contents(url);
    if (BROKEN.includes(kind)) await expect(call).rejects.toThrow(Error);
    else expect(Buffer.compare(await call, expected)).toBe(0);
    await isSent;
  });
  await fc.assert(property, { numRuns: samples(1500), seed: 11 });
});
