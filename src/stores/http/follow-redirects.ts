import { ZarrflowError } from "../../util/errors.ts";
import type { HttpResponse, PlainFetch, SentCredentials } from "./http-response.ts";
import type { Resolve } from "./redirect-target.ts";

/** How often a request is sent elsewhere, at most. */
const MOST = 10;

const DENIALS = [401, 403];
const REDIRECTS = [301, 302, 303, 307, 308];

/** A request to a URL; `headers` are for those who are meant, `range` and the like for anybody. */
export interface SentRequest {
  readonly method: "GET" | "HEAD";
  /** The caller's, such as an `Authorization`: only for the server that was named. */
  readonly own: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/**
 * Makes a request and follows where the server sends it, but not from https to http, nor to this machine or its
 * neighbours unless the server is one of these itself, by address or by a name that `resolve` knows; the caller's headers
 * go to no other server. Where the runtime does not show where a request is sent, as browsers do not, it follows by rules
 * of its own.
 *
 * @throws `unsupported-operation` for a redirection to nowhere, in circles, or to where it must not go.
 */
export async function followRedirects(
  fetch: PlainFetch,
  url: URL,
  { method, own, headers, signal }: SentRequest,
  resolve?: Resolve,
): Promise<HttpResponse> {
  let at = url;
  for (let redirections = 0; redirections <= MOST; redirections++) {
    const sent = { method, headers: at.origin === url.origin ? { ...own, ...headers } : headers };
    const init = { ...sent, ...(signal && { signal }) };
    const response = await fetch(at, { ...init, redirect: "manual" });
    if (response.type === "opaqueredirect") return fetch(at, init);
    if (DENIALS.includes(response.status)) return { ...response, credentials: credentialsOf(url, at, own) };
    if (!REDIRECTS.includes(response.status)) return response;
    await response.body?.cancel();
    const { redirectTarget } = await import("./redirect-target.ts");
    at = await redirectTarget(response, at, url, resolve);
  }
  throw new ZarrflowError("unsupported-operation", "too many redirects", {
    found: `more than ${MOST} redirects`,
  });
}

function credentialsOf(url: URL, at: URL, own: SentRequest["own"]): SentCredentials {
  const hasHeaders = Object.keys(own).length > 0;
  if (at.origin !== url.origin) return { sent: [], ...(hasHeaders && { withheldFrom: at.origin }) };
  return { sent: [...(url.search ? ["query" as const] : []), ...(hasHeaders ? ["headers" as const] : [])] };
}
