import type { Abortable } from "../../util/abort.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";

/** The body of a response. It is read once, or canceled. */
export interface HttpBody {
  /**
   * Passes the pieces to `take` as they arrive, until the body ends. If `take` returns true or throws, the rest is
   * canceled. A piece is valid only until `take` returns.
   *
   * @throws the errors of `take`; the platform's error if the body breaks off.
   */
  read(take: TakePiece): Promise<void>;
  cancel(): Promise<void>;
}

/** Takes a piece of a body. Returns true if no more is needed. */
export type TakePiece = (piece: Uint8Array) => boolean;

/** The part of a `fetch` response that is used. */
export interface HttpResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly headers: { get(name: string): string | null; has(name: string): boolean };
  readonly body: HttpBody | null;
  /** Type of the response in `fetch`: `opaqueredirect` if a browser hides a redirect. */
  readonly type?: string;
  /** Credentials that were sent to a server that denies access. */
  readonly credentials?: SentCredentials;
}

/** Which of the caller's query and headers the responding server received. */
export interface SentCredentials {
  readonly sent: readonly ("query" | "headers")[];
  /** The server that a redirect led to, which did not receive the headers. */
  readonly withheldFrom?: string;
}

/** The part of `fetch` that is used, with another type of body. */
export type PlainFetch = (
  url: URL,
  init: Omit<RequestInit, "headers" | "signal"> & {
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: Abortable | null | undefined;
  },
) => Promise<HttpResponse>;

/** Statuses of timeouts and overload; other 4xx statuses would stay the same on a retry. */
const TRANSIENT = [408, 425, 429, 500, 502, 503, 504];

/** Statuses of a server that gets too many requests. */
const OVERLOAD = [429, 503];

/** True if a response is a web page. Some servers return one with status 200 for every missing key. */
export function isPage({ headers }: Pick<HttpResponse, "headers">): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i.test(headers.get("content-type") ?? "");
}

/** Makes the error for a web page in place of a value. */
export function pageInPlace({ status }: Pick<HttpResponse, "status">): ZarrflowError {
  return new ZarrflowError("access-denied", "the server returned an HTML page instead of the value", {
    found: `${status} text/html`,
    isPage: true,
    hint: "Web apps return such a page for missing keys, other servers to ask for a login. Configure the server to answer 404 for missing chunks: nothing else shows that they are missing.",
  });
}

/** True for the error of a web page in place of a value. */
export function isPageInPlace(error: unknown): boolean {
  return isZarrflowError(error, "access-denied") && error.details.isPage === true;
}

/** Hint for servers on which 403 means a missing key. */
const MISSING_403 =
  "Buckets that may be read but not listed answer this for missing keys. If this is such a bucket, use `missing403` (--missing-403).";

function deniedHint(sent: SentCredentials["sent"]): string {
  if (sent.length === 0) return MISSING_403;
  return `It may not accept the ${sent.join(" or the ")} that it was sent: check the token and whether it has expired. ${MISSING_403}`;
}

/** Makes the error for a status that means neither success nor a missing value. */
export function statusFailure(
  response: Pick<HttpResponse, "status" | "statusText" | "headers" | "credentials">,
): ZarrflowError {
  const { status, statusText, credentials: { sent = [], withheldFrom } = {} } = response;
  const elsewhere = withheldFrom
    ? ` after a redirect to ${withheldFrom}, to which your headers were not sent`
    : "";
  const found = `${status} ${statusText}`.trim();
  if (status === 401)
    return new ZarrflowError("access-denied", `the server requires authentication${elsewhere}`, {
      found,
      hint: "Pass a valid token, either in a header (`headers` or --header) or in the URL (https://host/x.zarr?token=...).",
    });
  if (status === 403)
    return new ZarrflowError("access-denied", `the server denies access${elsewhere}`, {
      found,
      hint: deniedHint(sent),
    });
  if (status === 410)
    return new ZarrflowError("unsupported-operation", "the server answered that the value is gone (410)", {
      found,
      hint: "Only 404 means that a value never existed; ask the operator of the server where the data is now.",
    });
  if (!TRANSIENT.includes(status))
    return new ZarrflowError("unsupported-operation", "the server rejected the request", { found });
  const retryAfter = retryAfterOf(response);
  return new ZarrflowError("transient", "the server is temporarily unavailable", {
    found,
    ...(retryAfter !== undefined && { retryAfter }),
    ...(OVERLOAD.includes(status) && { overload: true }),
  });
}

/** True for an error with an HTTP status, which shows that the server is there. */
export function hasStatus(error: unknown): boolean {
  return isZarrflowError(error) && /^[1-5]\d\d\b/.test(String(error.details.found));
}

/** Returns the seconds of a `Retry-After`, which contains seconds or a date. */
function retryAfterOf({ headers }: Pick<HttpResponse, "headers">): number | undefined {
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  if (/^\d+$/.test(value.trim())) return Number(value);
  const until = Date.parse(value);
  return Number.isNaN(until) ? undefined : Math.max(0, Math.ceil((until - Date.now()) / 1000));
}

/** Makes the error for a request to `origin` without a response, or for a body that broke off. */
export function connectionFailure(cause: unknown, origin = "the server"): ZarrflowError {
  if (isZarrflowError(cause)) return cause; // a server that was silent
  const code = networkCode(cause);
  if (code !== undefined && /CERT|SELF_SIGNED|UNABLE_TO_/.test(code)) {
    const hint = "Set NODE_EXTRA_CA_CERTS to a file with certificates to trust.";
    return new ZarrflowError(
      "access-denied",
      "the server's certificate cannot be verified",
      { found: code, hint },
      { cause },
    );
  }
  return new ZarrflowError(
    "transient",
    "the connection failed",
    {
      ...(code && { found: code }),
      hint:
        code === "ENOTFOUND"
          ? `Check the host name in ${origin}.`
          : `Check that ${origin} is running and reachable.`,
    },
    { cause },
  );
}

/** Finds the system's error code, which Node puts into the cause of fetch's own error. */
function networkCode(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ("code" in at && typeof at.code === "string") return at.code;
  }
  return undefined;
}
