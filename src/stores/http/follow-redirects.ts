import { ZarrflowError } from "../../util/errors.ts";
import type { HttpResponse, PlainFetch, SentCredentials } from "./http-response.ts";
import type { Resolve } from "./redirect-target.ts";

/** Maximum number of redirects that a request follows. */
const MOST = 10;

const DENIALS = [401, 403];
const REDIRECTS = [301, 302, 303, 307, 308];

/** A request to a URL. `own` headers go to the requested server only, `headers` such as `range` to any server. */
export interface SentRequest {
  readonly method: "GET" | "HEAD";
  /** Headers of the caller, such as `Authorization`. */
  readonly own: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/**
 * Makes a request and follows redirects. Redirects from https to http are rejected. Redirects to this machine or
 * to link-local addresses are rejected unless the requested server is one of these itself; host names are checked
 * with `resolve`. The caller's headers are not sent to other servers. Browsers hide redirects, and follow them by
 * their own rules.
 *
 * @throws `unsupported-operation` for a redirect without a target, a redirect loop, or a target that is not
 *   allowed.
 */
export async function followRedirects(
  fetch: PlainFetch,
  url: URL,
  { method, own, headers, signal }: SentRequest,
  resolve?: Resolve,
): Promise<HttpResponse> {
  let at = url;
  for (let redirects = 0; redirects <= MOST; redirects++) {
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
