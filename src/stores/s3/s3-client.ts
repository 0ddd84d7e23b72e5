import { AwsV4Signer } from "aws4fetch";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { connectionFailure } from "../http/http-failure.ts";
import { type Repeat, type RetryOptions, repeater } from "../repeat.ts";
import { Credentials, type S3CredentialSource } from "./credentials.ts";
import { s3CodeOf, s3Failure } from "./s3-failure.ts";

export interface S3ClientOptions {
  readonly bucket: string;
  readonly credentials: S3CredentialSource;
  /** @default "us-east-1", corrected by what the server says */
  readonly region?: string;
  /** URL of a server other than Amazon's. */
  readonly endpoint?: string;
  /** Whether the bucket stands in the path, not in the host's name. @default true where there is an endpoint */
  readonly pathStyle?: boolean;
  /** Sent with every request: requester pays, server-side encryption. */
  readonly headers?: Readonly<Record<string, string>>;
  /** @default globalThis.fetch */
  readonly fetch?: typeof globalThis.fetch;
  /** How often requests that failed for now are made again. */
  readonly retry?: RetryOptions;
}

export interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal | null | undefined;
}

export interface S3Answer {
  readonly headers: Headers;
  readonly text: string;
}

/** Signs requests to one bucket and sends them; failures become errors of ours, a missing object stays a 404. */
export class S3Client {
  readonly #options: S3ClientOptions;
  readonly #credentials: Credentials;
  readonly #signingKeys = new Map<string, ArrayBuffer>();
  readonly #fetch: typeof globalThis.fetch;
  #region: string;
  #isBucketKnown = false;
  /** For whole operations: a request, and what is read of its answer. */
  readonly repeat: Repeat;

  /** @throws `invalid-option` for what can be no bucket or endpoint. */
  constructor(options: S3ClientOptions) {
    this.#options = options;
    this.#credentials = new Credentials(options.credentials);
    this.#region = options.region ?? "us-east-1";
    this.repeat = repeater(options.retry ?? {});
    this.#fetch = options.fetch ?? ((...request) => globalThis.fetch(...request));
    if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/i.test(options.bucket)) {
      throw new ZarrflowError("invalid-option", "this is no name of a bucket", { value: options.bucket });
    }
    if (options.endpoint !== undefined && !/^https?:\/\/[^/?#@]+\/?$/.test(options.endpoint)) {
      throw new ZarrflowError("invalid-option", "an endpoint is a URL without a path", {
        hint: "It looks like http://127.0.0.1:9000.",
      });
    }
  }

  /** URL of the object at `key`, or of the bucket for "", with a query. */
  url(key: string, query: Readonly<Record<string, string>> = {}): URL {
    const { bucket, endpoint, pathStyle = endpoint !== undefined || bucket.includes(".") } = this.#options;
    const url = new URL(endpoint ?? `https://s3.${this.#region}.amazonaws.com`);
    if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`;
    const path = key.split("/").map(encodeURIComponent).join("/");
    url.pathname = pathStyle ? `/${bucket}/${path}` : `/${path}`;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }

  /**
   * Sends a request: to `key`, with `query`.
   *
   * @returns the answer when it is a success, a 404 for a missing object, or a 416.
   * @throws `transient`, `access-denied`, `not-found` without the bucket, `no-space`, `unsupported-operation`.
   */
  async send(key: string, query: Readonly<Record<string, string>>, request: S3Request): Promise<Response> {
    const response = await this.#signed(this.url(key, query), request);
    if (response.ok || response.status === 416) return response;
    const region = response.headers.get("x-amz-bucket-region");
    if (region !== null && region !== this.#region && /^[a-z0-9-]+$/.test(region)) {
      await response.body?.cancel();
      this.#region = region;
      return this.send(key, query, request);
    }
    const code = request.method === "HEAD" ? undefined : s3CodeOf(await response.text());
    const isMissing = response.status === 404 && (code === undefined || code === "NoSuchKey");
    if (isMissing && key !== "" && (code !== undefined || (await this.#hasBucket(request)))) {
      return new Response(null, { status: 404 });
    }
    if (isMissing) throw s3Failure(response, "NoSuchBucket");
    throw s3Failure(response, code);
  }

  /** Sends a request, again where it fails for now, and reads the whole answer. @throws as `send` */
  async ask(key: string, query: Readonly<Record<string, string>>, request: S3Request): Promise<S3Answer> {
    const once = async () => {
      const response = await this.send(key, query, request);
      return { headers: response.headers, text: await response.text() };
    };
    return this.repeat({ operation: request.method, key }, once, request.signal ?? undefined);
  }

  /** A HEAD does not tell a missing object from a missing bucket: asked once. */
  async #hasBucket({ signal }: S3Request): Promise<boolean> {
    if (!this.#isBucketKnown) {
      const response = await this.#signed(this.url(""), { method: "HEAD", signal });
      this.#isBucketKnown = response.status !== 404;
    }
    return this.#isBucketKnown;
  }

  async #signed(url: URL, { method, headers, body, signal }: S3Request): Promise<Response> {
    const credentials = await this.#credentials.current();
    signal?.throwIfAborted();
    const plain = {
      method,
      headers: { ...this.#options.headers, ...headers },
      ...(body !== undefined && { body: body as BodyInit }),
    };
    try {
      const signed =
        credentials === undefined
          ? plain
          : await new AwsV4Signer({
              ...plain,
              ...credentials,
              url: url.href,
              service: "s3",
              region: this.#region,
              cache: this.#signingKeys,
            }).sign();
      const sent = new Headers(signed.headers);
      // Not signed: servers in front of the server may change it. Ranges count the bytes of the value as it is.
      sent.set("accept-encoding", "identity");
      return await this.#fetch(url, {
        ...plain,
        headers: sent,
        redirect: "manual",
        ...(signal && { signal }),
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw isZarrflowError(error) ? error : connectionFailure(error);
    }
  }
}
