import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { connectionFailure } from "./http-response.ts";

/** Milliseconds allowed for the request that finds out why another one failed. */
const PROBE_MS = 5000;

/** True in a page of a browser and in its workers. */
export const isBrowser = "document" in globalThis || "WorkerGlobalScope" in globalThis;

/** True if a URL is on another server than the page, so that that server must allow the request. */
export function isCrossOrigin({ origin }: URL): boolean {
  return isBrowser && globalThis.location !== undefined && globalThis.location.origin !== origin;
}

/**
 * Makes the error for a request without a response. If a server does not allow the page to read from it, browsers
 * only say that the request failed; an opaque request then shows that the server is there.
 */
export async function fetchFailure(cause: unknown, url: URL): Promise<ZarrflowError> {
  const failure = connectionFailure(cause, url.origin);
  if (isZarrflowError(cause) || !isCrossOrigin(url)) return failure;
  const { origin, protocol } = globalThis.location;
  if (protocol === "https:" && url.protocol === "http:") {
    const hint = "Read the data over https.";
    return new ZarrflowError(
      "access-denied",
      "a page served over https cannot read data over http",
      { hint },
      { cause },
    );
  }
  const probe = { mode: "no-cors", method: "HEAD", signal: AbortSignal.timeout(PROBE_MS) } as const;
  const isThere = await fetch(url, probe).then(
    () => true,
    () => false,
  );
  if (!isThere) return failure;
  const details = {
    expected: `Access-Control-Allow-Origin: ${origin}`,
    hint: `Configure CORS on ${url.origin}, including responses of status 404, or serve the data from ${origin}.`,
  };
  return new ZarrflowError("access-denied", "the server does not allow this page to read from it", details, {
    cause,
  });
}
