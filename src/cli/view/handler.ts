import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { brotliDecompressSync } from "node:zlib";
import { type Cut, MAX_ITEMS } from "../../flows/view/read-numbers.ts";
import type { ViewedSource } from "../../flows/view/viewed-source.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { packageVersion } from "../../util/package-version.node.ts";
import { redact } from "../../util/redact.ts";
import type { RequestHandler } from "../server/serve-requests.ts";

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>zarrflow view</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page.css">
<script src="page.js" defer></script>
</head>
<body><noscript>This page needs JavaScript.</noscript></body>
</html>
`;

/** Answers the page's requests about a source: the page itself, and the data that it shows. */
export function viewHandler(source: ViewedSource, token: string): RequestHandler {
  const answers = viewAnswers(source, packageVersion());
  return async (request) => {
    const path = allowedPath(request, token);
    if (typeof path !== "string") return path;
    if (path === "") return respond(PAGE, "text/html; charset=utf-8");
    if (path === "page.css" || path === "page.js") {
      const { pages } = await import("./page-bytes.ts");
      const text = brotliDecompressSync(Buffer.from(pages[path], "base64"));
      return respond(text, path === "page.js" ? "text/javascript" : "text/css");
    }
    const answer = await answers(path, new URL(request.url).searchParams, request.signal);
    if (answer === undefined) return respond("not found\n", "text/plain", 404);
    return respond(answer.body, answer.headers.get("content-type") ?? "", answer.status);
  };
}

/** Maximum number of nodes that the page lists. */
const MAX_NODES = 5000;

/**
 * Answers a request of the page: a name, such as `tree` or `values`, and its parameters. Undefined for an unknown name.
 */
export type ViewAnswers = (
  name: string,
  asked: URLSearchParams,
  signal: AbortSignal,
) => Promise<Response | undefined>;

/**
 * Returns the answers to the page's requests about a source, with or without a server. Our errors become responses,
 * too.
 */
export function viewAnswers(source: ViewedSource, version: string): ViewAnswers {
  return async (name, asked, signal) => {
    try {
      return await answer(source, version, name, asked, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isZarrflowError(error)) throw error;
      const { message, details, code } = error;
      return json({ message: redact(message), hint: details.hint }, code === "not-found" ? 404 : 422);
    }
  };
}

async function answer(
  source: ViewedSource,
  version: string,
  name: string,
  asked: URLSearchParams,
  signal: AbortSignal,
): Promise<Response | undefined> {
  const path = asked.get("path") ?? "";
  switch (name) {
    case "tree":
      return json(await listNodes(source, version, signal));
    case "node":
      return json(await source.describe(path, signal));
    case "chunks":
      return json((await source.chunks(path, signal)) ?? null);
    case "labels": {
      const dimension = { d: Number(asked.get("d")), name: asked.get("name") ?? "" };
      const [cut] = cutsIn(asked);
      if (cut === undefined || cut.count > MAX_ITEMS)
        throw new ZarrflowError("invalid-selection", "no items");
      return json((await source.labels(path, dimension, cut, signal)) ?? null);
    }
    case "values": {
      const { data, ...about } = await source.numbers(path, cutsIn(asked), signal);
      const bytes = framed({ ...about, size: data.BYTES_PER_ELEMENT }, data);
      return new Response(bytes, { headers: { "content-type": "application/octet-stream" } });
    }
    default:
      return undefined;
  }
}

async function listNodes(source: ViewedSource, version: string, signal: AbortSignal): Promise<object> {
  const nodes = [];
  let isCut = false;
  for await (const node of source.tree(signal)) {
    isCut = nodes.length === MAX_NODES;
    if (isCut) break;
    const shape = node.kind === "array" ? node.shape : undefined;
    const error = "error" in node ? redact(node.error.message) : undefined;
    nodes.push({
      path: node.path,
      kind: error === undefined ? node.kind : "broken",
      ...(shape && { shape }),
      ...(error && { error }),
    });
  }
  return { url: redact(source.url), version, nodes, isCut };
}

/** Parses `start:step:count` of each dimension; empty for an array without dimensions. */
function cutsIn(asked: URLSearchParams): Cut[] {
  const text = asked.get("cut") ?? "";
  if (text === "") return [];
  return text.split(",").map((cut) => {
    const [start = Number.NaN, step = Number.NaN, count = Number.NaN] = cut.split(":").map(Number);
    return { start, step, count };
  });
}

function json(value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json" } });
}

/**
 * Encodes numbers after a description: its length in 4 bytes, its JSON padded to align the numbers at 8 bytes, the
 * numbers.
 */
function framed(about: object, { buffer, byteLength }: Float32Array | Float64Array): Uint8Array<ArrayBuffer> {
  const text = JSON.stringify(about);
  // the description can have more bytes than characters
  const utf8 = new TextEncoder().encode(text);
  const length = Math.ceil((utf8.length + 4) / 8) * 8 - 4;
  const bytes = new Uint8Array(4 + length + byteLength).fill(0x20, 4, 4 + length);
  new DataView(bytes.buffer).setUint32(0, length, true);
  bytes.set(utf8, 4);
  bytes.set(new Uint8Array(buffer), 4 + length);
  return bytes;
}

/** A random token that nobody else on this machine can guess. */
export function makeToken(): string {
  return randomBytes(18).toString("base64url");
}

/** Headers of every response: no caching, no external content, no use by other pages. */
const HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": [
    ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
    ...["img-src data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
    "require-trusted-types-for 'script'",
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

export function respond(body: BodyInit | null, type: string, status = 200): Response {
  return new Response(body, { status, headers: { ...HEADERS, "content-type": type } });
}

/**
 * Returns the path after the token, or the response that rejects the request. Rejects other tokens, and other hosts
 * than this server, which a page of another site can send by DNS rebinding.
 */
export function allowedPath(request: Request, token: string): string | Response {
  const { host, port, pathname } = new URL(request.url);
  const [, given = "", ...rest] = pathname.split("/");
  const isHere = [host, `localhost:${port}`].includes(request.headers.get("host") ?? "");
  if (!isHere || !isSame(given, token) || rest.length !== 1) return respond("forbidden\n", "text/plain", 403);
  if (request.method !== "GET" && request.method !== "HEAD")
    return respond("method not allowed\n", "text/plain", 405);
  return rest[0] ?? "";
}

function isSame(a: string, b: string): boolean {
  const [hashA, hashB] = [a, b].map((text) => createHash("sha256").update(text).digest());
  return hashA !== undefined && hashB !== undefined && timingSafeEqual(hashA, hashB);
}
