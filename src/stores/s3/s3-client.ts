import { throwIfAborted, unlessAborted } from "../../util/abort.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import type { OptionNames } from "../../util/options.ts";
import type { Fetch } from "../../util/platform-types.ts";
import { secretHeaders } from "../http/headers.ts";
import type { HttpResponse, PlainFetch } from "../http/http-response.ts";
import { REFUSED_HEAD } from "../http/http-values.ts";
import { fetchFailure } from "../http/page.ts";
import { readBodyText } from "../http/read-body.ts";
import { fetchOfRuntime, plainFetch } from "../http/runtime-fetch.ts";
import { fetchWithTimeout } from "../remote/fetch-with-timeout.ts";
import type { RequestHook } from "../remote/private-access.ts";
import { type RequestRetry, type Retrier, requestRetrier } from "../remote/retry-requests.ts";
import { noteBucketServer } from "../remote/server-counters.ts";
import { Credentials, type S3CredentialSource } from "./credentials.ts";
import { BUCKET, BUCKET_HINT, s3CodeOf, s3Failure } from "./s3-failure.ts";
import { type SigningKeys, signRequest } from "./sign-request.ts";
import { elementText, isComplete } from "./xml.ts";

export interface S3ClientOptions {
  readonly bucket: string;
  readonly credentials: S3CredentialSource;
  /** @default "us-east-1", corrected by what the server says */
  readonly region?: string | undefined;
  /** URL of a server other than Amazon's, such as `https://storage.googleapis.com`. */
  readonly endpoint?: string | undefined;
  /** True to put the bucket into the path, not into the host name. @default true with an endpoint */
  readonly pathStyle?: boolean | undefined;
  /** True to pay for the requests, for buckets whose owner requires that. @default false */
  readonly requesterPays?: boolean | undefined;
  /** @default undefined, as set by the bucket's owner */
  readonly encryption?: S3Encryption | undefined;
  /**
   * Treats status 403 as a missing object, as answered by buckets that may be read but not listed.
   *
   * @default false
   */
  readonly missing403?: boolean | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** @default globalThis.fetch */
  readonly fetch?: Fetch | undefined;
  /** How often transient failures are retried, and how long each request may take. */
  readonly retry?: RequestRetry | undefined;
  /** Called before each request, retries included. The request starts when it resolves. */
  readonly beforeRequest?: RequestHook | undefined;
}

export const S3_CLIENT_OPTIONS: OptionNames<S3ClientOptions> = {
  bucket: true,
  credentials: true,
  region: true,
  endpoint: true,
  pathStyle: true,
  requesterPays: true,
  encryption: true,
  missing403: true,
  headers: true,
  fetch: true,
  retry: true,
  beforeRequest: true,
};

export interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /**
   * Statuses that are answers, not failures.
   *
   * @default 404 and 416 for reads, 404 for deletes
   */
  readonly answers?: readonly number[];
  /** Name of the element that a complete response contains. */
  readonly root?: string;
  /** Milliseconds for which the server may be silent at least, for requests that take it longer. */
  readonly timeout?: number;
  readonly signal?: AbortSignal | null | undefined;
}

export interface S3Response {
  readonly status: number;
  readonly headers: HttpResponse["headers"];
  readonly text: string;
}

type Query = Readonly<Record<string, string>>;

/**
 * Bucket names that can be part of a host name. Others, as on Ceph, Google and in old buckets of Amazon, are put
 * into the path.
 */
const HOSTED_BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/**
 * When its caller aborts a request that changes something, its response is awaited for this many more milliseconds
 * if its body has more than this many bytes. A shorter body has been sent already: its response is awaited as
 * usual.
 */
const LINGER = 3_000;
const LONG_BODY = 2 ** 20;
const BEGINS_AS_ERROR = /^\s*(?:<\?xml[^>]*>\s*)?<Error>/;
/** Statuses that are answers by default, not failures: the value is missing, or ends before the range. */
const ANSWERS = { GET: [404, 416], HEAD: [404, 416], DELETE: [404], PUT: [], POST: [] } as const;
/** Maximum size in bytes of a response: 1,000 keys of 1,024 bytes, each encoded as up to three. */
const LONGEST_ANSWER = 16 * 2 ** 20;
/** Maximum size in bytes of an error response that is read. */
const LONGEST_ERROR = 64 * 1024;
/** Maximum number of regions in which a bucket is looked for. */
const MAX_REGIONS = 4;

/**
 * Signs requests to one bucket and sends them. Failures become errors of zarrflow; a missing object stays a 404.
 */
export class S3Client {
  readonly #options: S3ClientOptions;
  readonly #credentials: Credentials;
  readonly #signingKeys: SigningKeys = new Map();
  readonly #fetch: PlainFetch;
  #region: string;
  /** Regions that turned out to be wrong. */
  readonly #wrongRegions = new Set<string>();
  #isBucketKnown = false;
  readonly isAmazons: boolean;
  /** Retries whole operations: a request and reading its response. */
  readonly retry: Retrier;
  readonly #silence: number;

  /** @throws `invalid-option` for an invalid bucket or endpoint. */
  constructor(options: S3ClientOptions) {
    this.#options = options;
    this.#credentials = new Credentials(options.credentials);
    this.#region = options.region ?? "us-east-1";
    this.isAmazons = options.endpoint === undefined;
    const bucket = `s3://${options.bucket}`;
    const server = options.endpoint ?? bucket;
    const { retry, silence } = requestRetrier(bucket, server, options.retry);
    this.retry = retry;
    this.#silence = silence;
    noteBucketServer(options.bucket, server);
    this.#fetch = options.fetch ? plainFetch(options.fetch) : fetchOfRuntime;
    if (!BUCKET.test(options.bucket)) {
      // Credentials before an `@` must not be shown.
      const value = options.bucket.slice(options.bucket.lastIndexOf("@") + 1);
      throw new ZarrflowError("invalid-option", "this is not a valid bucket name", {
        value,
        hint: BUCKET_HINT,
      });
    }
    if (options.endpoint !== undefined && !/^https?:\/\/[^/?#@]+\/?$/.test(options.endpoint)) {
      throw new ZarrflowError("invalid-option", "an endpoint must be a URL without a path", {
        hint: "An endpoint looks like http://127.0.0.1:9000.",
      });
    }
  }

  /**
   * Returns true if the server can copy what `other` reads: it is the same server with the same credentials, and
   * no customer key is needed for decryption.
   */
  async canCopyFrom(other: S3Client): Promise<boolean> {
    const [ours, theirs] = [this.#options, other.#options];
    const isSame = ours.endpoint === theirs.endpoint && ours.requesterPays === theirs.requesterPays;
    const hasKey = [ours, theirs].some(({ encryption }) => encryption && "customerKey" in encryption);
    if (!isSame || hasKey) return false;
    const [mine, others] = await Promise.all([this.#credentials.current(), other.#credentials.current()]);
    return mine?.accessKeyId === others?.accessKeyId;
  }

  /** Returns the URL of the object at `key`, or of the bucket for "", with a query. */
  url(key: string, query: Query = {}): URL {
    const { bucket, endpoint } = this.#options;
    const { pathStyle = endpoint !== undefined || bucket.includes(".") } = this.#options;
    const inPath = pathStyle || !HOSTED_BUCKET.test(bucket);
    const server = (endpoint ?? `https://s3.${this.#region}.amazonaws.com`).replace(/\/$/, "");
    const path = key.split("/").map(encodeURIComponent).join("/");
    const url = new URL(inPath ? `${server}/${encodeURIComponent(bucket)}/${path}` : `${server}/${path}`);
    if (!inPath) url.hostname = `${bucket}.${url.hostname}`;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }

  /**
   * Sends a request to `key` with `query`.
   *
   * @returns the response if it is a success or has a status that `request` accepts.
   * @throws `transient`, `access-denied`, `not-found` without the bucket, `no-space`, `unsupported-operation`.
   */
  async send(key: string, query: Query, request: S3Request): Promise<HttpResponse> {
    const region = this.#region;
    const { method, answers = ANSWERS[method] } = request;
    const isAnswer = (status: number) => answers.some((answer) => answer === status);
    const response = await this.#signed(key, query, request);
    if (response.ok || (response.status !== 404 && isAnswer(response.status))) return response;
    const body = method === "HEAD" ? "" : await errorText(response);
    const named = response.headers.get("x-amz-bucket-region") ?? elementText(body, "Region");
    if (this.#followsTo(named, region)) return this.send(key, query, request);
    const code = s3CodeOf(body);
    if (key !== "" && this.#isHidden(response, code, request)) return missing();
    const isMissing = response.status === 404 && (code === undefined || code === "NoSuchKey");
    const isObject = isMissing && key !== "" && (code !== undefined || (await this.#hasBucket(request)));
    if (isObject && isAnswer(404)) return missing();
    const isRefusedRead = key !== "" && response.status === 403 && method === "GET";
    throw s3Failure(response, isMissing && !isObject ? "NoSuchBucket" : code, {
      region: named,
      isRefusedRead,
    });
  }

  /**
   * Sends a request, retries transient failures, and reads the whole response.
   *
   * @throws as `send`; `short-read` for a truncated response, `resource-limit` for one that is too long.
   */
  ask(key: string, query: Query, request: S3Request): Promise<S3Response> {
    const call = { operation: request.method, key, sent: request.body?.length };
    return this.retry(call, () => this.askOnce(key, query, request), request.signal ?? undefined);
  }

  /**
   * Returns the headers of an object, by a HEAD, or by reading its first byte if HEAD is rejected. A missing
   * object has none.
   */
  async head(key: string, signal: AbortSignal | undefined): Promise<Pick<S3Response, "headers">> {
    const answers = [404, ...REFUSED_HEAD];
    const answer = await this.ask(key, {}, { method: "HEAD", answers, signal });
    if (!REFUSED_HEAD.includes(answer.status)) return answer;
    return this.ask(key, {}, { method: "GET", headers: { range: "bytes=0-0" }, signal });
  }

  /** Like `ask`, but without retries. */
  async askOnce(key: string, query: Query, request: S3Request): Promise<S3Response> {
    const { root } = request;
    const response = await this.send(key, query, request);
    const text = await readBodyText(response, LONGEST_ANSWER);
    // Long operations start with status 200, and can still fail.
    if (response.ok && BEGINS_AS_ERROR.test(text)) throw s3Failure(asFailed(response), s3CodeOf(text));
    if (root !== undefined && !isComplete(text, root)) {
      throw new ZarrflowError("short-read", "the response is truncated", { expected: `</${root}>` });
    }
    return { status: response.status, headers: response.headers, text };
  }

  /**
   * Returns true if a request to `region` must be repeated in the region that the response names. Another request
   * in flight may have found that region before.
   */
  #followsTo(named: string | undefined, region: string): boolean {
    if (named === undefined || named === region || !/^[a-z0-9-]+$/.test(named)) return false;
    if (named === this.#region) return true;
    if (this.#wrongRegions.has(named) || this.#wrongRegions.size >= MAX_REGIONS) return false;
    this.#wrongRegions.add(region);
    this.#region = named;
    return true;
  }

  #isHidden({ status }: HttpResponse, code: string | undefined, { method }: S3Request): boolean {
    if (!this.#options.missing403 || status !== 403) return false;
    return method === "HEAD" || (method === "GET" && (code === undefined || code === "AccessDenied"));
  }

  /**
   * Returns true if the bucket exists, which is asked once: a HEAD does not distinguish a missing object from a missing
   * bucket.
   */
  async #hasBucket({ signal }: S3Request): Promise<boolean> {
    if (!this.#isBucketKnown) {
      const response = await this.#signed("", {}, { method: "HEAD", signal });
      this.#isBucketKnown = response.status !== 404;
    }
    return this.#isBucketKnown;
  }

  async #signed(key: string, query: Query, request: S3Request): Promise<HttpResponse> {
    const { method, body, signal } = request;
    const { requesterPays, encryption } = this.#options;
    const url = this.url(key, query);
    await this.#options.beforeRequest?.(signal ?? undefined, url.origin);
    const headers = await this.#headersOf(url, request, {
      ...(requesterPays && { "x-amz-request-payer": "requester" }),
      ...(key !== "" && encryptionHeaders(encryption, objectAccessOf(method, query))),
      ...this.#options.headers,
      ...request.headers,
    });
    const init = {
      method,
      headers,
      redirect: "manual",
      signal,
      ...(body !== undefined && { body: body as BodyInit }),
    } as const;
    try {
      const silence = Math.max(request.timeout ?? 0, this.#silence);
      const isChange = method !== "GET" && method !== "HEAD";
      const linger = (body?.length ?? 0) > LONG_BODY ? LINGER : silence;
      const { beforeRequest } = this.#options;
      const timed = { silence, linger: isChange ? linger : 0, beforeRequest };
      return await fetchWithTimeout(this.#fetch, url, init, timed);
    } catch (error) {
      throwIfAborted(signal);
      throw await fetchFailure(error, url);
    }
  }

  /** Returns the headers, including those of the signature. */
  async #headersOf(
    url: URL,
    { method, signal }: S3Request,
    plain: Readonly<Record<string, string>>,
  ): Promise<Record<string, string>> {
    const credentials = await unlessAborted(this.#credentials.current(), signal);
    throwIfAborted(signal);
    const headers = secretHeaders(plain);
    // Not signed, because proxies may change it. Ranges count bytes of the uncompressed value.
    const encoding = { "accept-encoding": "identity" };
    if (credentials === undefined) return { ...headers, ...encoding };
    const place = { region: this.#region, keys: this.#signingKeys };
    return { ...secretHeaders(await signRequest({ method, url, headers }, credentials, place)), ...encoding };
  }
}

/** Reads the text of an error response; "" for one that is too long for S3. */
async function errorText(response: HttpResponse): Promise<string> {
  try {
    return await readBodyText(response, LONGEST_ERROR);
  } catch (error) {
    if (isZarrflowError(error, "resource-limit")) return "";
    throw error;
  }
}

function asFailed({ headers }: HttpResponse): HttpResponse {
  return { ok: false, status: 500, statusText: "", headers, body: null };
}

function missing(): HttpResponse {
  const headers = { get: () => null, has: () => false };
  return { ok: false, status: 404, statusText: "", headers, body: null };
}

/** Encryption of objects by the server: with its own key, or with one that every request sends. */
export type S3Encryption =
  | {
      /** Such as `AES256`, `aws:kms`, `aws:kms:dsse`. */
      readonly algorithm: string;
      readonly kmsKeyId?: string | undefined;
      /** True to use bucket keys, which saves KMS calls. */
      readonly bucketKey?: boolean | undefined;
    }
  /** A key of 32 bytes and its MD5, in base64; never shown. Without the key nobody can read the objects again. */
  | { readonly customerKey: string; readonly customerKeyMd5: string };

export type ObjectAccess = "create" | "part" | "read" | "other";

/** Returns the kind of access of a request, by its method and query. */
export function objectAccessOf(method: string, query: Readonly<Record<string, string>>): ObjectAccess {
  if (method === "GET" || method === "HEAD") return "read";
  if (method === "PUT") return "uploadId" in query ? "part" : "create";
  return "uploads" in query ? "create" : "other";
}

/**
 * Returns the headers that a request needs: the encryption only when an object is created, a customer's key
 * always.
 */
export function encryptionHeaders(
  encryption: S3Encryption | undefined,
  access: ObjectAccess,
): Record<string, string> {
  if (encryption === undefined || access === "other") return {};
  const name = "x-amz-server-side-encryption";
  if ("customerKey" in encryption) {
    const { customerKey, customerKeyMd5 } = encryption;
    return {
      [`${name}-customer-algorithm`]: "AES256",
      [`${name}-customer-key`]: customerKey,
      [`${name}-customer-key-md5`]: customerKeyMd5,
    };
  }
  if (access !== "create") return {};
  const { algorithm, kmsKeyId, bucketKey } = encryption;
  return {
    [name]: algorithm,
    ...(kmsKeyId !== undefined && { [`${name}-aws-kms-key-id`]: kmsKeyId }),
    ...(bucketKey !== undefined && { [`${name}-bucket-key-enabled`]: String(bucketKey) }),
  };
}
