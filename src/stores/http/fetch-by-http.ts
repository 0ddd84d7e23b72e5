import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Readable } from "node:stream";
import { type Abortable, abortError, onAbort, throwIfAborted } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { type Builtins, builtin } from "../../util/platform.node.ts";
import type { HttpBody, HttpResponse, PlainFetch } from "./http-response.ts";

type Client = (options: RequestOptions) => ClientRequest;

const clients = new Map<string, Client>();

/** What undoes codings, as `fetch` does, by the names that answers have for them. */
const DECODERS: Readonly<Record<string, "createGunzip" | "createInflate" | "createBrotliDecompress">> = {
  gzip: "createGunzip",
  "x-gzip": "createGunzip",
  deflate: "createInflate",
  br: "createBrotliDecompress",
};

/** Codings whose bytes are not those of the value, and that not all versions of Node undo. */
const UNKNOWN_CODINGS = ["zstd", "compress", "x-compress"];

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
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(signal?.aborted ? abortError(signal.reason) : error);
    sent.on("error", fail);
    const stopListening = onAbort(signal, () => sent.destroy(abortError(signal?.reason)));
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

/** By the agent of the process: it keeps connections open for what follows, or does what the program, or Node, was configured to do. */
function clientFor(protocol: string): Client {
  const name = protocol === "https:" ? "node:https" : "node:http";
  const { request } = here(name);
  clients.set(protocol, request);
  return request;
}

function isWithoutBody({ statusCode = 0, headers }: IncomingMessage): boolean {
  return EMPTY.includes(statusCode) || headers["content-length"] === "0";
}

/** Resolves when the message is at its end, whose connection the next request takes. */
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

/** What a message brings, or what undoes its coding. */
function bodyOf(message: Readable, signal: Abortable | null | undefined): HttpBody {
  message.pause();
  // One that breaks off before it is read says so to nobody else.
  message.on("error", () => {});
  return {
    read(take) {
      return new Promise<void>((resolve, reject) => {
        const fail = (error: unknown) => reject(signal?.aborted ? abortError(signal.reason) : error);
        const end = () => (signal?.aborted ? fail(undefined) : resolve());
        const cut = () => fail(message.errored ?? new Error("the connection was closed amid the response"));
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
        // A message that is given up ends, too: without what was not read of it.
        message.on("data", onPiece).on("end", end).on("error", fail).on("close", cut).resume();
      });
    },
    cancel: () => letGo(message),
  };
}

/** When all has come the connection is of use again; else it is closed. The last piece is given before it is known to be the last. */
async function letGo(message: Readable): Promise<void> {
  await undefined;
  if (message.readableEnded || message.destroyed) return;
  if (!isComplete(message)) message.destroy();
  else await readToEnd(message);
}

function isComplete(message: Readable): boolean {
  return "complete" in message && message.complete === true;
}

/** What is stored compressed, and says so, whatever the request would take. */
function decoded(message: IncomingMessage): Readable {
  const coding = message.headers["content-encoding"]?.trim().toLowerCase() ?? "";
  const decoder = DECODERS[coding];
  if (UNKNOWN_CODINGS.includes(coding)) {
    message.destroy();
    throw new ZarrflowError(
      "unsupported-encoding",
      "the server compresses its answers in an unsupported way",
      {
        found: `Content-Encoding: ${coding}`,
        hint: "Requests ask for answers that are not compressed (`Accept-Encoding: identity`); configure the server to honour that.",
      },
    );
  }
  if (decoder === undefined) return message;
  const { pipeline } = here("node:stream");
  // What fails is reported where it is read.
  return pipeline(message, here("node:zlib")[decoder](), () => {});
}

function here<Name extends keyof Builtins>(name: Name): Builtins[Name] {
  return builtin(name) as Builtins[Name];
}
