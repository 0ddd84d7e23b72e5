import type * as Http from "node:http";
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { abortError, onAbort, throwIfAborted } from "../../util/abort.ts";
import { OwnReadableStream, type ReadableStream } from "../../util/web-streams.ts";
import type { HttpResponse, PlainFetch } from "./http-response.ts";

type Client = (options: RequestOptions) => ClientRequest;

/** Whether the runtime has what `fetchByHttp` needs: Node from 20.16 on. Bundles for browsers know nothing of it. */
export const canFetchByHttp = globalThis.process?.getBuiltinModule !== undefined;

const clients = new Map<string, Client>();

/** Codings that are undone, as `fetch` does, by the names that answers and the runtime have for them. */
const CODINGS = new Map<string | undefined, "gzip" | "deflate">([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
]);

/** Statuses of answers without a body. */
const EMPTY = [204, 304];

/**
 * As `fetch` that follows no redirection, by Node's older client: a request takes a third of the processor time, and a body
 * is sent from where it is, where `fetch` copies it twice. The bytes of a body are the caller's again when the answer is read.
 */
export const fetchByHttp: PlainFetch = async (url, { method = "GET", headers, body, signal }) => {
  throwIfAborted(signal);
  const client = clients.get(url.protocol) ?? clientFor(url.protocol);
  const { hostname, port, pathname, search } = url;
  const host = hostname.replace(/^\[|\]$/g, "");
  const sent = client({ host, port, path: pathname + search, method, headers: { ...headers } });
  const stopListening = onAbort(signal, () => sent.destroy(abortError(signal?.reason)));
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(signal?.aborted ? abortError(signal.reason) : error);
    sent.on("error", fail);
    let isAnswered = false;
    sent.on("close", () => {
      stopListening();
      // Where the server would speak another protocol nothing else says so.
      if (!isAnswered) fail(new Error("the connection was closed before the response"));
    });
    sent.on("response", (message) => {
      isAnswered = true;
      // Of what is answered before it was sent, nobody wants the rest.
      message.on("end", () => sent.writableFinished || sent.destroy());
      const isEmpty = method === "HEAD" || isWithoutBody(message);
      const body = isEmpty ? null : decoded(bodyOf(message, signal), message);
      resolve(isEmpty ? read(message).then(() => answerOf(message, body)) : answerOf(message, body));
    });
    sent.end(body);
  });
};

/** By the agent of the process: it keeps connections open for what follows, or does what the program, or Node, was configured to do. */
function clientFor(protocol: string): Client {
  const name = protocol === "https:" ? "node:https" : "node:http";
  const { request } = globalThis.process.getBuiltinModule(name) as typeof Http;
  clients.set(protocol, request);
  return request;
}

function isWithoutBody({ statusCode = 0, headers }: IncomingMessage): boolean {
  return EMPTY.includes(statusCode) || headers["content-length"] === "0";
}

/** Resolves when the message is at its end, whose connection the next request takes. */
function read(message: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    message.on("end", resolve).on("close", resolve).resume();
  });
}

function answerOf(message: IncomingMessage, body: HttpResponse["body"]): HttpResponse {
  const { statusCode: status = 0, statusMessage: statusText = "", headers } = message;
  const get = (name: string) => {
    const value = headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(", ") : (value ?? null);
  };
  return {
    ok: status >= 200 && status < 300,
    status,
    statusText,
    headers: { get, has: (name) => get(name) !== null },
    body,
  };
}

function bodyOf(
  message: IncomingMessage,
  signal: AbortSignal | null | undefined,
): ReadableStream<Uint8Array> {
  message.pause();
  let isWanted = true;
  return new OwnReadableStream<Uint8Array>(
    {
      start(controller) {
        message.on("data", (piece) => {
          if (!isWanted) return;
          message.pause();
          controller.enqueue(piece);
        });
        // A message that is given up ends, too: without what was not read of it.
        message.on("end", () => {
          if (signal?.aborted) controller.error(abortError(signal.reason));
          else if (isWanted) controller.close();
        });
        message.on("error", (error) => controller.error(signal?.aborted ? abortError(signal.reason) : error));
      },
      pull() {
        message.resume();
      },
      // When all has come the connection is of use again; else it is closed.
      async cancel() {
        isWanted = false;
        if (message.complete) await read(message);
        else message.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}

/** What is stored compressed, and says so, whatever the request would take. */
function decoded(body: ReadableStream<Uint8Array>, { headers }: IncomingMessage): ReadableStream<Uint8Array> {
  const format = CODINGS.get(headers["content-encoding"]?.trim().toLowerCase());
  if (format === undefined) return body;
  return body.pipeThrough(new DecompressionStream(format) as ReadableWritablePair<Uint8Array, Uint8Array>);
}
