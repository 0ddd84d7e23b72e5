import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { connectionFailure } from "./http-failure.ts";

/** Milliseconds that the request may take which finds out why another one failed. */
const PROBE_MS = 5000;

/** Whether a browser makes the requests, in a page or one of its workers. */
export const isBrowser = "document" in globalThis || "WorkerGlobalScope" in globalThis;

/** Whether a page would read from another server than its own, which that server has to allow. */
export function isCrossOrigin({ origin }: URL): boolean {
  return isBrowser && globalThis.location !== undefined && globalThis.location.origin !== origin;
}

/**
 * The error for a request that got no answer. Browsers say no more than that it failed where a server does not allow the
 * page to read from it; an opaque request then shows that the server is there.
 */
export async function fetchFailure(cause: unknown, url: URL): Promise<ZarrflowError> {
  const failure = connectionFailure(cause, url.origin);
  if (isZarrflowError(cause) || !isCrossOrigin(url)) return failure;
  const { origin, protocol } = globalThis.location;
  if (protocol === "https:" && url.protocol === "http:") {
    const hint = "Read the data by https.";
    return new ZarrflowError(
      "access-denied",
      "a page served by https cannot read by http",
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
    hint: `Configure CORS on ${url.origin}, for answers of status 404 as well, or serve the data from ${origin}.`,
  };
  return new ZarrflowError("access-denied", "the server does not allow this page to read from it", details, {
    cause,
  });
}
