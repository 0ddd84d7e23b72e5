import { brotliDecompressSync } from "node:zlib";
import { type Cut, MAX_ITEMS } from "../../flows/view/read-numbers.ts";
import type { ViewedSource } from "../../flows/view/viewed-source.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { redact } from "../../util/redact.ts";
import type { RequestHandler } from "../server/serve-requests.ts";
import { packageVersion } from "../version.ts";
import { allowedPath, respond } from "./guard.ts";

/** Nodes that the page lists, at most. */
const MAX_NODES = 5000;

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

/** Answers the requests of the page about a source: the page itself, and what it shows, part by part. */
export function viewHandler(source: ViewedSource, token: string): RequestHandler {
  return async (request) => {
    const path = allowedPath(request, token);
    if (typeof path !== "string") return path;
    const { searchParams } = new URL(request.url);
    try {
      return await answer(source, path, searchParams, request.signal);
    } catch (error) {
      request.signal.throwIfAborted();
      if (!isZarrflowError(error)) throw error;
      const { message, details, code } = error;
      return json({ message: redact(message), hint: details.hint }, code === "not-found" ? 404 : 422);
    }
  };
}

async function answer(
  source: ViewedSource,
  name: string,
  asked: URLSearchParams,
  signal: AbortSignal,
): Promise<Response> {
  const path = asked.get("path") ?? "";
  switch (name) {
    case "":
      return respond(PAGE, "text/html; charset=utf-8");
    case "page.css":
    case "page.js": {
      const { pages } = await import("./page-bytes.ts");
      const text = brotliDecompressSync(Buffer.from(pages[name], "base64"));
      return respond(text, name === "page.js" ? "text/javascript" : "text/css");
    }
    case "tree":
      return json(await listNodes(source, signal));
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
      return respond(framed({ ...about, size: data.BYTES_PER_ELEMENT }, data), "application/octet-stream");
    }
    default:
      return respond("not found\n", "text/plain", 404);
  }
}

async function listNodes(source: ViewedSource, signal: AbortSignal): Promise<object> {
  const nodes = [];
  let isCut = false;
  for await (const node of source.tree(signal)) {
    isCut = nodes.length === MAX_NODES;
    if (isCut) break;
    const shape = node.kind === "array" ? node.shape : undefined;
    const error = node.kind === "broken" ? redact(node.error.message) : undefined;
    nodes.push({ path: node.path, kind: node.kind, ...(shape && { shape }), ...(error && { error }) });
  }
  return { url: redact(source.url), version: packageVersion(), nodes, isCut };
}

/** `start:step:count` of each dimension; none for an array without dimensions. */
function cutsIn(asked: URLSearchParams): Cut[] {
  const text = asked.get("cut") ?? "";
  if (text === "") return [];
  return text.split(",").map((cut) => {
    const [start = Number.NaN, step = Number.NaN, count = Number.NaN] = cut.split(":").map(Number);
    return { start, step, count };
  });
}

function json(value: unknown, status = 200): Response {
  return respond(JSON.stringify(value), "application/json", status);
}

/** Numbers after their description: its length as 4 bytes, JSON filled up with spaces so that the numbers lie at 8 bytes. */
function framed(about: object, { buffer, byteLength }: Float32Array | Float64Array): Uint8Array<ArrayBuffer> {
  const text = JSON.stringify(about);
  const header = Buffer.from(text.padEnd(Math.ceil((text.length + 4) / 8) * 8 - 4));
  const bytes = new Uint8Array(4 + header.length + byteLength);
  new DataView(bytes.buffer).setUint32(0, header.length, true);
  bytes.set(header, 4);
  bytes.set(new Uint8Array(buffer), 4 + header.length);
  return bytes;
}
