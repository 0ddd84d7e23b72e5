import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** What nobody else on this machine can guess. */
export function makeToken(): string {
  return randomBytes(18).toString("base64url");
}

/** What every answer says: nothing is kept, nothing comes from elsewhere, no other page may use it. */
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
 * The path after the token of a request that may be answered, or the answer that refuses it: a request that names another
 * host than this server's, as a page of another site does by DNS rebinding, or another token.
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
