import { Agent, type ClientRequest, type IncomingMessage, type RequestOptions, request } from "node:http";
import { OwnReadableStream, type ReadableStream } from "../../util/web-streams.ts";
import type { Answer, PlainFetch } from "./answer.ts";

type Client = (url: URL, options: RequestOptions) => ClientRequest;

/** Connections stay open for the requests that follow, and keep no process from ending. */
const agent = new Agent({ keepAlive: true });
const clients = new Map<string, Client>([["http:", (url, options) => request(url, { ...options, agent })]]);

/** Statuses of answers without a body. */
const EMPTY = [204, 304];

/**
 * As `fetch` that follows no redirection, by Node's older client: a request takes a third of the processor time, and a body
 * is sent from where it is, where `fetch` copies it twice. `bytes` of a body are the caller's again when the answer is there.
 */
export const fetchByHttp: PlainFetch = async (url, { method = "GET", headers, body, signal }) => {
  const client = clients.get(url.protocol) ?? (await clientByTls());
  const sent = client(url, { method, headers: { ...headers }, ...(signal && { signal }) });
  return new Promise((resolve, reject) => {
    sent.on("error", (error) => reject(signal?.aborted ? signal.reason : error));
    sent.on("response", (message) => {
      const isEmpty = method === "HEAD" || isWithoutBody(message);
      const body = isEmpty ? null : bodyOf(message, signal);
      resolve(isEmpty ? read(message).then(() => answerOf(message, body)) : answerOf(message, body));
    });
    sent.end(body);
  });
};

/** Loaded where it is used: that takes some milliseconds. */
async function clientByTls(): Promise<Client> {
  const https = await import("node:https");
  const tlsAgent = new https.Agent({ keepAlive: true });
  const client: Client = (url, options) => https.request(url, { ...options, agent: tlsAgent });
  clients.set("https:", client);
  return client;
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

function answerOf(message: IncomingMessage, body: Answer["body"]): Answer {
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
        message.on("end", () => isWanted && controller.close());
        message.on("error", (error) => controller.error(signal?.aborted ? signal.reason : error));
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
