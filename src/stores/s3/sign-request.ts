import { toHex } from "../../util/bytes.ts";
import { builtin } from "../../util/platform.node.ts";
import type { S3Credentials } from "./credentials.ts";

export interface UnsignedRequest {
  readonly method: string;
  readonly url: URL;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Signing keys: one for each day, region and secret. */
export type SigningKeys = Map<string, Uint8Array>;

const ALGORITHM = "AWS4-HMAC-SHA256";
/** TLS protects the body, and the checksum header of the body is signed. */
const UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD";
/** Headers that proxies may change, or that are not part of the request. */
const NOT_SIGNED = new Set([
  "authorization",
  "connection",
  "content-length",
  "content-type",
  "expect",
  "range",
  "user-agent",
  "x-amzn-trace-id",
]);

/**
 * Returns the headers of a request to S3 with its signature, version 4.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export async function signRequest(
  { method, url, headers }: UnsignedRequest,
  { accessKeyId, secretAccessKey, sessionToken }: S3Credentials,
  { region, keys }: { readonly region: string; readonly keys: SigningKeys },
): Promise<Record<string, string>> {
  const digests = nodeDigests() ?? webDigests;
  const time = timeNow();
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const sent = {
    ...headers,
    "x-amz-content-sha256": UNSIGNED_PAYLOAD,
    "x-amz-date": time,
    ...(sessionToken !== undefined && { "x-amz-security-token": sessionToken.trim() }),
  };
  const all: Readonly<Record<string, string>> = { host: url.host, ...sent };
  const signed = Object.keys(all).filter((name) => !NOT_SIGNED.has(name));
  const names = signed.sort().join(";");
  let canonical = `${method}\n${quoted(url.pathname)}\n`;
  if (url.search !== "") canonical += canonicalQuery(url.searchParams);
  for (const name of signed) canonical += `\n${name}:${singleSpaced(all[name] ?? "")}`;
  canonical += `\n\n${names}\n${UNSIGNED_PAYLOAD}`;
  const key = await signingKey(secretAccessKey, scope, { digests, keys });
  let { signature } = latest;
  if (latest.key !== key || latest.canonical !== canonical) {
    const text = `${ALGORITHM}\n${time}\n${scope}\n${await digests.sha256(canonical)}`;
    signature = toHex(await digests.hmac(key, text));
    latest = { key, canonical, signature };
  }
  const credential = `Credential=${accessKeyId}/${scope}`;
  const authorization = `${ALGORITHM} ${credential}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...sent, authorization };
}

/** The latest signature, which is the next one's too if another range of the same object is requested. */
let latest: { readonly key?: Uint8Array; readonly canonical: string; readonly signature: string } = {
  canonical: "",
  signature: "",
};

let clock = { second: 0, time: "" };

/** Returns the time as in signatures, to the second. Requests of one second share the text. */
function timeNow(): string {
  const second = Math.floor(Date.now() / 1000);
  if (clock.second !== second) {
    const time = new Date(second * 1000).toISOString().replace(/[:-]|\.\d{3}/g, "");
    clock = { second, time };
  }
  return clock.time;
}

async function signingKey(
  secret: string,
  scope: string,
  { digests, keys }: { readonly digests: Digests; readonly keys: SigningKeys },
): Promise<Uint8Array> {
  const name = `${secret}/${scope}`;
  const known = keys.get(name);
  if (known !== undefined) return known;
  let key: Uint8Array = new TextEncoder().encode(`AWS4${secret}`);
  for (const part of scope.split("/")) key = await digests.hmac(key, part);
  keys.set(name, key);
  return key;
}

function canonicalQuery(query: URLSearchParams): string {
  const encoded = [...query].map((pair) => pair.map((text) => quoted(encodeURIComponent(text))));
  // Sorted by names alone: `=` sorts after some characters of names.
  return encoded
    .sort(([a = ""], [b = ""]) => (a < b ? -1 : 1))
    .map((pair) => pair.join("="))
    .join("&");
}

function singleSpaced(value: string): string {
  return /\s/.test(value) ? value.trim().replace(/\s+/g, " ") : value;
}

/** Encodes characters that `encodeURIComponent` and URLs leave alone, but signatures do not. */
function quoted(encoded: string): string {
  return encoded.replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

type Crypto = typeof import("node:crypto");
type Awaitable<T> = T | Promise<T>;

/** Digests that signatures are made of; text is UTF-8. */
export interface Digests {
  /** Returns hexadecimal digits. */
  sha256(text: string): Awaitable<string>;
  hmac(key: Uint8Array, text: string): Awaitable<Uint8Array>;
}

/**
 * Returns Node's digests, which are synchronous: a browser's take 200 us each, because they wait for another
 * thread, Node's 5 us.
 */
export const nodeDigests = () => digestsBy(builtin("node:crypto"));

function digestsBy(crypto: Crypto | undefined): Digests | undefined {
  return (
    crypto && {
      // in one call since Node 20.12
      sha256: (text) =>
        crypto.hash?.("sha256", text, "hex") ?? crypto.createHash("sha256").update(text).digest("hex"),
      hmac: (key, text) => crypto.createHmac("sha256", key).update(text).digest(),
    }
  );
}

const utf8 = new TextEncoder();

export const webDigests: Digests = {
  sha256: async (text) => toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8.encode(text)))),
  async hmac(key, text) {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const imported = await crypto.subtle.importKey("raw", new Uint8Array(key), algorithm, false, ["sign"]);
    return new Uint8Array(await crypto.subtle.sign("HMAC", imported, utf8.encode(text)));
  },
};
