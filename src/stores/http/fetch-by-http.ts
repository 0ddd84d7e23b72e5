import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Readable } from "node:stream";
import { type Abortable, abortError, onAbort, throwIfAborted } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { type Builtins, builtin } from "../../util/platform.node.ts";
import type { HttpBody, HttpResponse, PlainFetch } from "./http-response.ts";

type Client = (options: RequestOptions) => ClientRequest;

const clients = new Map<string, Client>();

/** Decoders of content codings, by the names that responses use, as in `fetch`. */
const DECODERS: Readonly<Record<string, "createGunzip" | "createInflate" | "createBrotliDecompress">> = {
  gzip: "createGunzip",
  "x-gzip": "createGunzip",
  deflate: "createInflate",
  br: "createBrotliDecompress",
};

/** Codings that change the bytes and that not all versions of Node can decode. */
const UNKNOWN_CODINGS = ["zstd", "compress", "x-compress"];

/** Statuses of responses without a body. */
const EMPTY = [204, 304];

/**
 * Like `fetch` without redirects, but on Node's older client. A request takes a third of the processor time, and
 * its body is sent without the two copies that `fetch` makes. The caller may reuse the body's bytes when the
 * response is read.
 */
export const fetchByHttp: PlainFetch = async (url, { method = "GET", headers, body, signal }) => {
  throwIfAborted(signal);
  const client = clients.get(url.protocol) ?? clientFor(url.protocol);
  const { hostname, port, pathname, search } = url;
  const host = hostname.replace(/^\[|\]$/g, "");
  const sent = client({ host, port, path: pathname + search, method, headers: { ...headers } });
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(signal?.aborted ? abortError(signal.reason) : error);
    sent.on("error", fail);
    const stopListening = onAbort(signal, () => sent.destroy(abortError(signal?.reason)));
    let isAnswered = false;
    sent.on("close", () => {
      stopListening();
      // If the server switches to another protocol, this is the only sign.
      if (!isAnswered) fail(new Error("the connection was closed before the response"));
    });
    sent.on("response", (message) => {
      isAnswered = true;
      // If the response ends before the request is sent, the rest of the request is not needed.
      message.on("end", () => sent.writableFinished || sent.destroy());
      if (method !== "HEAD" && !isWithoutBody(message)) {
        try {
          return resolve(answerOf(message, bodyOf(decoded(message), signal)));
        } catch (error) {
          return reject(error);
        }
      }
      resolve(readToEnd(message).then(() => answerOf(message, null)));
    });
    sent.end(body);
  });
};

/**
 * Returns the client of a protocol. It uses the agent of the process, which keeps connections open, or whatever
 * the program or Node has configured.
 */
function clientFor(protocol: string): Client {
  const name = protocol === "https:" ? "node:https" : "node:http";
  const { request } = here(name);
  clients.set(protocol, request);
  return request;
}

function isWithoutBody({ statusCode = 0, headers }: IncomingMessage): boolean {
  return EMPTY.includes(statusCode) || headers["content-length"] === "0";
}

/** Resolves at the end of the message, when the next request can use its connection. */
function readToEnd(message: Readable): Promise<void> {
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

/** Makes the body of a message, or of the decoder that reads it. */
function bodyOf(message: Readable, signal: Abortable | null | undefined): HttpBody {
  message.pause();
  // Errors before the body is read are reported by `read`.
  message.on("error", () => {});
  return {
    read(take) {
      return new Promise<void>((resolve, reject) => {
        const fail = (error: unknown) => reject(signal?.aborted ? abortError(signal.reason) : error);
        const end = () => (signal?.aborted ? fail(undefined) : resolve());
        const cut = () =>
          fail(message.errored ?? new Error("the connection was closed in the middle of the response"));
        if (message.destroyed) return cut();
        const onPiece = (piece: Uint8Array) => {
          const stop = () => letGo(message.off("data", onPiece));
          try {
            if (take(piece)) resolve(stop());
          } catch (error) {
            reject(error);
            void stop();
          }
        };
        // An aborted message also emits `end`, although the rest was not read.
        message.on("data", onPiece).on("end", end).on("error", fail).on("close", cut).resume();
      });
    },
    cancel: () => letGo(message),
  };
}

/**
 * Frees the connection for reuse if the whole body has arrived; otherwise closes it. Waits a turn, because the
 * last piece is emitted before the message knows that it was the last.
 */
async function letGo(message: Readable): Promise<void> {
  await undefined;
  if (message.readableEnded || message.destroyed) return;
  if (!isComplete(message)) message.destroy();
  else await readToEnd(message);
}

function isComplete(message: Readable): boolean {
  return "complete" in message && message.complete === true;
}

/** Decodes a body that is compressed although the request did not allow that. */
function decoded(message: IncomingMessage): Readable {
  const coding = message.headers["content-encoding"]?.trim().toLowerCase() ?? "";
  const decoder = DECODERS[coding];
  if (UNKNOWN_CODINGS.includes(coding)) {
    message.destroy();
    throw new ZarrflowError(
      "unsupported-encoding",
      "the server compresses its responses in an unsupported way",
      {
        found: `Content-Encoding: ${coding}`,
        hint: "Requests ask for uncompressed responses (`Accept-Encoding: identity`); configure the server to honor that.",
      },
    );
  }
  if (decoder === undefined) return message;
  const { pipeline } = here("node:stream");
  // Errors are reported to the reader of the body.
  return pipeline(message, here("node:zlib")[decoder](), () => {});
}

function here<Name extends keyof Builtins>(name: Name): Builtins[Name] {
  return builtin(name) as Builtins[Name];
}
