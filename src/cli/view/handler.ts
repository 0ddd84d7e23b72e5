import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { brotliDecompressSync } from "node:zlib";
import type { ViewedSource } from "../../flows/view/viewed-source.ts";
import { packageVersion } from "../../util/package-version.node.ts";
import type { RequestHandler } from "../server/serve-requests.ts";
import { viewAnswers } from "./answer.ts";

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
