import { ZarrflowError } from "../../util/errors.ts";
import { builtin } from "../../util/platform.node.ts";
import type { HttpResponse } from "./http-response.ts";

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

/**
 * Where a response sends a request that was made to `from`, and first to `origin`; browsers show none.
 *
 * @throws `unsupported-operation` for a redirection to nowhere, or to where it must not go.
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
