import { ZarrflowError } from "../../util/errors.ts";
import { builtin } from "../../util/platform.node.ts";
import type { HttpResponse } from "./http-response.ts";

/**
 * Tests for hosts that only this machine or its local network link can reach, including services that hand out
 * credentials. Hosts are spelled as the URL parser does.
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

/**
 * Resolves the addresses of a host with this machine's resolver. Returns none if the host is unknown or cannot be
 * resolved.
 */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Uses Node's resolver. Browsers have none, but do not show redirects either. */
const resolveHost: Resolve = async (host) => {
  const found = await builtin("node:dns")
    ?.promises.lookup(host, { all: true })
    .catch(() => []);
  return found?.map(({ address }) => address) ?? [];
};

/**
 * Returns the target of a redirect. The request was made to `from`, and originally to `origin`. Browsers show no
 * redirects.
 *
 * @throws `unsupported-operation` for a redirect without a target, or to one that is not allowed.
 */
export async function redirectTarget(
  response: HttpResponse,
  from: URL,
  origin: URL,
  resolve: Resolve = resolveHost,
): Promise<URL> {
  const next = nextOf(response, from, origin);
  if (next.hostname !== origin.hostname) await assertOuter(next, origin, resolve);
  return next;
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

/**
 * Checks the addresses of a host name, because a name may also stand for this machine or its local network link.
 */
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

/** Writes an address as in a URL: IPv6 in brackets, without a zone. */
function urlHost(address: string): string {
  return address.includes(":") ? `[${address.replace(/%.*$/, "")}]` : address;
}

function refusedPlace({ protocol, host }: URL): ZarrflowError {
  return refused("the redirect leads to a forbidden address", `${protocol}//${host}`);
}

/** True if a host is an IPv4 address that matches `kind`, possibly written as IPv6. */
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
