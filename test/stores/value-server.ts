import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { crc32 } from "../../src/util/crc32.ts";

const CODERS = {
  gzip: gzipSync,
  br: (value: Uint8Array) => brotliCompressSync(value, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
} as const;

/** What a server may get wrong. */
export interface Manners {
  /** Answers 200 and the whole value, whatever range is asked for. */
  readonly ignoresRanges?: boolean;
  /** To `bytes=-N` it answers 416, or with the first N + 1 bytes. */
  readonly suffix?: "refused" | "first bytes";
  /** Answers with the bytes behind those asked for. */
  readonly shiftsRanges?: boolean;
  /** Leaves out the Content-Length. */
  readonly hidesLength?: boolean;
  /** The status with which it refuses each HEAD; true is 405. */
  readonly refusesHead?: boolean | number;
  /** The length that it states to a HEAD, whatever the value has. */
  readonly headLength?: number;
  /** What it answers for values that are missing: 404 by default. */
  readonly missing?: "denied" | "page" | "unnamed page" | "json";
  /** Whether it answers a request, and not 401. */
  readonly isLetIn?: (request: SeenRequest) => boolean;
  /** Compresses values, and states so; ranges are those of the compressed value. */
  readonly coding?: "gzip" | "br";
  /** How it tells versions of a value apart: not at all by default. */
  readonly validators?: "strong" | "weak" | "dates";
  /** Answers whatever `If-Match` asks for. */
  readonly ignoresConditions?: boolean;
  /** Leaves out the Content-Range, as browsers do for strangers. */
  readonly hidesContentRange?: boolean;
}

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
}

/** Answers a request in place of the server, or leaves it to it. */
export type Fault = (response: ServerResponse, request: SeenRequest) => boolean;

/** A web server on 127.0.0.1 that has `values` below `/data/`. */
export interface ValueServer {
  readonly url: string;
  readonly requests: SeenRequest[];
  /** Taken one for each request, until there are no more. */
  readonly faults: Fault[];
  close(): Promise<void>;
}

export async function serveValues(
  values: ReadonlyMap<string, Uint8Array>,
  manners: Manners = {},
): Promise<ValueServer> {
  const requests: SeenRequest[] = [];
  const faults: Fault[] = [];
  const made = new WeakMap<Uint8Array, Uint8Array>();
  const coded = (value: Uint8Array) => {
    if (!manners.coding) return value;
    const known = made.get(value) ?? CODERS[manners.coding](value);
    made.set(value, known);
    return known;
  };
  const server = createServer((incoming, response) => {
    const request = { method: incoming.method ?? "", url: incoming.url ?? "", headers: incoming.headers };
    requests.push(request);
    if (faults.shift()?.(response, request)) return;
    if (manners.isLetIn?.(request) === false) {
      response.writeHead(401).end();
      return;
    }
    const key = decodeURIComponent(new URL(request.url, "http://host").pathname).replace("/data/", "");
    const value = values.get(key);
    answer(response, request, value && coded(value), manners);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/data`,
    requests,
    faults,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(
  response: ServerResponse,
  { method, headers }: SeenRequest,
  value: Uint8Array | undefined,
  manners: Manners,
) {
  const refuse = (status: number, refusal = {}) => void response.writeHead(status, refusal).end("refused");
  const { refusesHead, headLength } = manners;
  if (method === "HEAD" && refusesHead) return refuse(refusesHead === true ? 405 : refusesHead);
  if (value === undefined) return answerMissing(response, manners);
  if (method === "HEAD" && headLength !== undefined)
    return void response.writeHead(200, { "content-length": headLength }).end();
  const validators = validatorsOf(value, manners);
  const condition = manners.ignoresConditions ? undefined : headers["if-match"];
  if (condition !== undefined && condition !== validators.etag) return refuse(412);
  const send = (status: number, body: Uint8Array, more: Record<string, string> = {}) => {
    const coding = manners.coding && { "content-encoding": manners.coding };
    const length = !manners.hidesLength && { "content-length": body.length };
    response.writeHead(status, { ...validators, ...more, ...coding, ...length });
    response.end(method === "HEAD" ? undefined : body);
  };
  const range = manners.ignoresRanges ? undefined : headers.range;
  if (range === undefined) return send(200, value);
  const bounds = boundsOf(range, value.length, manners);
  if (bounds === undefined) return refuse(416, { "content-range": `bytes */${value.length}` });
  const [start, end] = bounds;
  const place = { "content-range": `bytes ${start}-${end - 1}/${value.length}` };
  send(206, value.subarray(start, end), manners.hidesContentRange ? {} : place);
}

/** The page of an app, which shows what the path says. */
export const PAGE = "<!doctype html>\n<html><body><div id=root></div></body></html>\n";

function answerMissing(response: ServerResponse, { missing }: Manners): void {
  const send = (status: number, body: string, type?: string) =>
    void response.writeHead(status, type === undefined ? {} : { "content-type": type }).end(body);
  if (missing === "denied") send(403, "<Error/>");
  else if (missing === "page") send(200, PAGE, "text/html; charset=utf-8");
  else if (missing === "unnamed page") send(200, PAGE);
  else if (missing === "json") send(404, '{"detail":"no"}', "application/json");
  else send(404, "refused");
}

function validatorsOf(value: Uint8Array, { validators }: Manners): Record<string, string> {
  if (validators === undefined) return {};
  const state = crc32(value);
  if (validators === "strong") return { etag: `"${state}"` };
  if (validators === "weak") return { etag: `W/"${state}"` };
  return { "last-modified": new Date((state % 1e9) * 1000).toUTCString() };
}

function boundsOf(range: string, size: number, manners: Manners): [number, number] | undefined {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  if (first === "") {
    if (manners.suffix === "refused" || size === 0) return undefined;
    if (manners.suffix === "first bytes") return [0, Math.min(Number(last) + 1, size)];
    return [Math.max(0, size - Number(last)), size];
  }
  const shift = manners.shiftsRanges ? 1 : 0;
  const start = Number(first) + shift;
  const end = last === "" ? size : Math.min(Number(last) + 1 + shift, size);
  return start < size ? [start, end] : undefined;
}
