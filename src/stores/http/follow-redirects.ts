import { ZarrflowError } from "../../util/errors.ts";
import { builtin } from "../../util/platform.node.ts";
import type { HttpResponse, PlainFetch, SentCredentials } from "./http-response.ts";

/** How often a request is sent elsewhere, at most. */
const MOST = 10;

const DENIALS = [401, 403];
const REDIRECTS = [301, 302, 303, 307, 308];

/**
 * Hosts that only this machine, or its neighbours on a cable, can ask: services that give credentials among them. As the
 * parser of URLs spells them.
 */
const INNER_HOSTS: readonly ((host: string) => boolean)[] = [
  (host) =>
    isMapped(host, /^127\.|^0\./) ||
    host === "[::1]" ||
    host === "[::]" ||
    /^(?:.+\.)?localhost\.?$/.test(host),
  (host) =>
    isMapped(host, /^169\.254\./) ||
    /^\[fe[89ab]/.test(host) ||
    host === "[fd00:ec2::254]" ||
    /^metadata(?:\.google\.internal)?\.?$/.test(host),
];

/** The addresses of a host, which the resolver of the machine knows; none where it has no such host, or cannot tell. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** By Node's resolver; browsers have none, and show no redirection either. */
const resolveHost: Resolve = async (host) => {
  const found = await builtin("node:dns")
    ?.promises.lookup(host, { all: true })
    .catch(() => []);
  return found?.map(({ address }) => address) ?? [];
};

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
  resolve: Resolve = resolveHost,
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
    at = nextOf(response, at, url);
    if (at.hostname !== url.hostname) await assertOuter(at, url, resolve);
  }
  throw refused("too many redirects", `more than ${MOST} redirects`);
}

function credentialsOf(url: URL, at: URL, own: SentRequest["own"]): SentCredentials {
  const hasHeaders = Object.keys(own).length > 0;
  if (at.origin !== url.origin) return { sent: [], ...(hasHeaders && { withheldFrom: at.origin }) };
  return { sent: [...(url.search ? ["query" as const] : []), ...(hasHeaders ? ["headers" as const] : [])] };
}

function nextOf({ headers, status }: HttpResponse, from: URL, origin: URL): URL {
  const location = headers.get("location");
  if (location === null || !URL.canParse(location, from)) {
    throw refused("the redirect has no target", `${status} without a Location header`);
  }
  const next = new URL(location, from);
  const isKept = next.protocol === "https:" || (next.protocol === "http:" && from.protocol === "http:");
  if (isKept && !isInner(next.hostname, origin) && next.username === "" && next.password === "") return next;
  throw refusedPlace(next);
}

/** Also a name may be that of this machine, or of one of its neighbours. */
async function assertOuter(next: URL, origin: URL, resolve: Resolve): Promise<void> {
  if (/^\[|^[\d.]+$/.test(next.hostname)) return;
  const hosts = (await resolve(next.hostname)).map(
    (address) => new URL(`http://${urlHost(address)}`).hostname,
  );
  if (hosts.some((host) => isInner(host, origin))) throw refusedPlace(next);
}

function isInner(host: string, origin: URL): boolean {
  return INNER_HOSTS.some((isOf) => isOf(host) && !isOf(origin.hostname));
}

/** An address as it stands in a URL: those of IPv6 in brackets, without a zone. */
function urlHost(address: string): string {
  return address.includes(":") ? `[${address.replace(/%.*$/, "")}]` : address;
}

function refusedPlace({ protocol, host }: URL): ZarrflowError {
  return refused("the redirect leads to an address that is not allowed", `${protocol}//${host}`);
}

/** Whether a host is an IPv4 address of a kind, also one that is written as one of IPv6. */
function isMapped(host: string, kind: RegExp): boolean {
  const [, high, low] = /^\[::(?:ffff:(?:0:)?)?([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host) ?? [];
  if (high === undefined || low === undefined) return /^[\d.]+$/.test(host) && kind.test(host);
  const bytes = [high, low].flatMap((word) => [
    Number.parseInt(word, 16) >> 8,
    Number.parseInt(word, 16) & 255,
  ]);
  return kind.test(bytes.join("."));
}

function refused(reason: string, found: string): ZarrflowError {
  return new ZarrflowError("unsupported-operation", reason, { found });
}
