import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onAbort, unlessAborted } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";

/** Answers a request. The request's signal is aborted when the client disconnects or the server closes. */
export type RequestHandler = (request: Request) => Promise<Response>;

export interface ServeRequestsOptions {
  /** The name or address to listen on; by default 127.0.0.1, which other machines cannot reach. */
  readonly host?: string | undefined;
  /** The port; any free one if 0, the default. */
  readonly port?: number | undefined;
  /** Called with an error of the handler, or of its response's body. The client does not see the error's text. */
  readonly onFailure?: (error: unknown, request: Request) => void;
}

/** Serves until the signal is aborted. Calls `onStart` with the URL once it listens. */
export async function serveUntil(
  signal: AbortSignal,
  handler: RequestHandler,
  options: ServeRequestsOptions,
  onStart: (url: string) => Promise<void>,
): Promise<void> {
  const server = await serveRequests(handler, options);
  try {
    await onStart(server.url);
    await new Promise<void>((resolve) => {
      onAbort(signal, resolve);
      if (signal.aborted) resolve();
    });
  } finally {
    await server.close();
  }
}

export interface RequestServer {
  /** The URL of the server, such as `http://127.0.0.1:8080/`. */
  readonly url: string;
  /** Aborts the requests in flight, and ends all connections. */
  close(): Promise<void>;
}

/** Milliseconds after which a client that reads nothing is disconnected. */
const STALLED_MS = 60_000;
/**
 * Milliseconds that an idle connection is kept open: longer than the 60 s of proxies and load balancers, so that they
 * never send a request on a connection that is closing.
 */
const KEPT_MS = 65_000;
/** Printable ASCII without a backslash, which URL parsers take for a slash. */
const PLAIN_TARGET = /^\/[!-[\]-~]*$/;
/** A segment that URL parsers resolve. */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:[/?#]|$)/i;

/**
 * Serves the answers of `handler` over HTTP. Requests have no body. A URL with `..` or a backslash, which names another
 * path than it spells, is answered with 400. Bodies are read only as fast as the client reads them.
 *
 * @throws `access-denied` or `invalid-option` if it cannot listen there.
 */
export async function serveRequests(
  handler: RequestHandler,
  { host = "127.0.0.1", port = 0, onFailure = () => {} }: ServeRequestsOptions = {},
): Promise<RequestServer> {
  const open = new Set<AbortController>();
  const running = new Set<Promise<void>>();
  const server = createServer((incoming, outgoing) => {
    const abort = new AbortController();
    open.add(abort);
    outgoing.once("close", () => {
      open.delete(abort);
      if (!outgoing.writableFinished) abort.abort();
    });
    const answered = answer(incoming, outgoing, abort.signal).finally(() => running.delete(answered));
    running.add(answered);
  });
  server.keepAliveTimeout = KEPT_MS;
  await listen(server, host, port);
  const address = server.address() as AddressInfo;
  const name = address.family === "IPv6" ? `[${address.address}]` : address.address;
  const url = `http://${name}:${address.port}/`;
  return {
    url,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const abort of open) abort.abort();
      server.closeAllConnections();
      await Promise.all([closed, ...running]);
    },
  };

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse, signal: AbortSignal) {
    const request = requestOf(incoming, signal);
    if (typeof request === "number") return respond(outgoing, request);
    try {
      const response = await unlessAborted(handler(request), signal);
      outgoing.writeHead(response.status, [...response.headers].flat());
      if (request.method === "HEAD") await response.body?.cancel();
      else if (response.body) await send(response.body, outgoing, signal);
      outgoing.end();
    } catch (error) {
      if (signal.aborted) outgoing.destroy();
      else {
        onFailure(error, request);
        if (outgoing.headersSent) outgoing.destroy();
        else respond(outgoing, 500);
      }
    }
  }

  /** Returns the request, or the status to reject it with. */
  function requestOf({ method = "", url: target = "", headers }: IncomingMessage, signal: AbortSignal) {
    if (!PLAIN_TARGET.test(target) || DOT_SEGMENT.test(target)) return 400;
    const given = Object.entries(headers).flatMap(([key, value]) =>
      [value ?? []].flat().map((one) => [key, one]),
    );
    try {
      return new Request(new URL(url.slice(0, -1) + target), {
        method,
        headers: given as [string, string][],
        signal,
      });
    } catch {
      return 405; // The method is not allowed in a Request.
    }
  }
}

function respond(outgoing: ServerResponse, status: 400 | 405 | 500): void {
  const words = { 400: "bad request", 405: "method not allowed", 500: "internal error" }[status];
  outgoing.writeHead(status, { "content-type": "text/plain" }).end(`${words}\n`);
}

/** Writes a body, with back-pressure from the client. */
async function send(body: ReadableStream<Uint8Array>, outgoing: ServerResponse, signal: AbortSignal) {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await unlessAborted(reader.read(), signal);
      if (done) return;
      if (outgoing.write(value)) continue;
      const drained = new Promise<void>((resolve) => outgoing.once("drain", resolve));
      outgoing.setTimeout(STALLED_MS, () => outgoing.destroy());
      await unlessAborted(drained, signal);
      outgoing.setTimeout(0);
    }
  } catch (error) {
    reader.cancel(error).catch(() => {});
    throw error;
  }
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
    server.listen(port, host, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): ZarrflowError {
  const where = `cannot listen on ${host}, port ${port}`;
  if (error.code === "EACCES") {
    const hint =
      "Ports below 1024 may require special rights. Use another port, or omit --port for any free one.";
    return new ZarrflowError("access-denied", `${where}: not allowed`, { hint }, { cause: error });
  }
  const isTaken = error.code === "EADDRINUSE";
  const reason = isTaken
    ? "another program is listening there"
    : `not an address of this machine (${error.code})`;
  const hint = isTaken
    ? "Use another port, or omit --port for any free one."
    : "Use 127.0.0.1 for this machine only, or 0.0.0.0 for all its addresses.";
  return new ZarrflowError("invalid-option", `${where}: ${reason}`, { hint }, { cause: error });
}
