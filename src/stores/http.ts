import { platformSignal } from "../util/abort.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { ZarrflowError } from "../util/errors.ts";
import { assertKnown, type OptionNames } from "../util/options.ts";
import type { Fetch } from "../util/platform-types.ts";
import { forKey } from "./error-context.ts";
import { followRedirects } from "./http/follow-redirects.ts";
import { secretHeaders } from "./http/headers.ts";
import type { HttpResponse, PlainFetch } from "./http/http-response.ts";
import { HttpValues, type SendRequest } from "./http/http-values.ts";
import { fetchFailure, isCrossOrigin } from "./http/page.ts";
import { fetchOfRuntime, plainFetch } from "./http/runtime-fetch.ts";
import { fetchWithTimeout } from "./remote/fetch-with-timeout.ts";
import type { RequestHeaders, RequestHook } from "./remote/private-access.ts";
import { type RequestRetry, type Retrier, requestRetrier, withOneBuffer } from "./remote/retry-requests.ts";
import type { GetOptions, Store, VersionOptions } from "./store.ts";
import { markNativeStore } from "./store-traits.ts";

export interface HttpStoreOptions {
  /** @default globalThis.fetch */
  readonly fetch?: Fetch | undefined;
  /**
   * Headers of every request, such as `Authorization`, or a function that returns them before each request. They
   * are never shown, and not sent to servers that a request is redirected to.
   */
  readonly headers?: RequestHeaders | undefined;
  /**
   * Treats status 403 as a missing key. Some servers answer 403 to hide from strangers which keys exist.
   *
   * @default false
   */
  readonly missing403?: boolean | undefined;
  /** How often transient failures are retried, and how long each request may take. */
  readonly retry?: RequestRetry | undefined;
  /** Called before each request, redirected ones included. The request starts when it resolves. */
  readonly beforeRequest?: RequestHook | undefined;
}

const HTTP_OPTIONS: OptionNames<HttpStoreOptions> = {
  fetch: true,
  headers: true,
  missing403: true,
  retry: true,
  beforeRequest: true,
};

/**
 * Keys below a URL of any web server, read-only. Parts of values are requested as ranges; from a server without ranges,
 * the value is fetched from its start to the end of the part. An unexpected response is an error, never data. Transient
 * failures are retried.
 *
 * @example
 * ```ts
 * import { HttpStore } from "zarrflow/stores/http";
 *
 * const store = new HttpStore("https://example.org/era5.zarr", { headers: { "x-api-key": "..." } });
 * console.log(store.description); // https://example.org/era5.zarr
 * ```
 */
export class HttpStore implements Store {
  static {
    markNativeStore(HttpStore.prototype);
  }

  /** The URL without its query. */
  readonly description: string;
  readonly #base: URL;
  readonly #fetch: PlainFetch;
  readonly #headers: () => Awaitable<Readonly<Record<string, string>>>;
  readonly #values: HttpValues;
  readonly #retry: Retrier;

  /**
   * @throws `invalid-option` for anything but an http(s) URL, for a URL with a user name, and for headers that
   *   cannot be sent.
   */
  constructor(url: string, options: HttpStoreOptions = {}) {
    assertKnown(options, HTTP_OPTIONS);
    const { headers = {}, missing403 = false } = options;
    this.#base = parseBase(url);
    this.description = `${this.#base.origin}${this.#base.pathname.replace(/\/$/, "")}`;
    const { retry, silence } = requestRetrier(this.description, this.#base.origin, options.retry);
    this.#retry = retry;
    this.#fetch = fetchFor(options, silence);
    if (typeof headers === "function") this.#headers = async () => ownHeaders(await headers());
    else {
      const sent = ownHeaders(headers); // or each request would fail with an error that shows them
      this.#headers = () => sent;
    }
    const missing = missing403 ? [403, 404] : [404];
    // For the last bytes of a value of another origin, browsers send a preflight request, which servers of plain
    // files reject.
    const hasSuffixes = !isCrossOrigin(this.#base);
    const manners = { missing, hasSuffixes, mayBePages: false };
    this.#values = new HttpValues((...request) => this.#send(...request), manners);
  }

  /**
   * @throws `transient` and `short-read`, which are worth a retry; `access-denied`; `unsupported-operation` if the
   *   server rejects the request.
   */
  async get(key: string, options: GetOptions = {}): Promise<Uint8Array | undefined> {
    const once = withOneBuffer(options);
    return this.#ask("get", key, options.signal, () => this.#values.get(key, once));
  }

  async size(key: string, options: VersionOptions = {}): Promise<number | undefined> {
    return this.#ask("size", key, options.signal, () => this.#values.size(key, options));
  }

  #ask<T>(
    operation: string,
    key: string,
    signal: AbortSignal | undefined,
    call: () => Promise<T>,
  ): Promise<T> {
    const asked = () => this.#retry({ operation, key }, call, signal);
    return forKey({ store: this.description, key, signal }, asked);
  }

  async #send(...[method, key, { headers: asked, signal }]: Parameters<SendRequest>): Promise<HttpResponse> {
    const url = new URL(this.#base);
    url.pathname += key.split("/").map(encodeURIComponent).join("/");
    // Ranges count bytes of the value, not of a compressed body.
    const headers = { "accept-encoding": "identity", ...asked };
    const own = await this.#headers();
    try {
      return await followRedirects(this.#fetch, url, { method, own, headers, ...(signal && { signal }) });
    } catch (error) {
      throw await fetchFailure(error, url);
    }
  }
}

function fetchFor({ fetch, beforeRequest }: HttpStoreOptions, silence: number): PlainFetch {
  const send = fetch ? plainFetch(fetch) : fetchOfRuntime;
  return async (url, init) => {
    await beforeRequest?.(platformSignal(init.signal), url.origin);
    return fetchWithTimeout(send, url, init, { silence, beforeRequest });
  };
}

/** Headers that select a value or a part of it, which callers may not set. */
const NOT_OWN = ["range", "accept-encoding", "if-match", "if-none-match", "if-range", "content-length"];

/** Returns the caller's headers as they are sent. @throws `invalid-option` */
function ownHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const sent = secretHeaders(headers);
  const other = NOT_OWN.find((name) => name in sent);
  if (other === undefined) return sent;
  throw new ZarrflowError("invalid-option", `the header \`${other}\` cannot be set`, {
    hint: "Omit it: zarrflow sets it for each request as needed.",
  });
}

function parseBase(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new ZarrflowError("invalid-option", "this is not a URL of a web server", { value: text });
  }
  if (url.username !== "" || url.password !== "") {
    throw new ZarrflowError("invalid-option", "a URL must not contain a user name or password", {
      hint: "Send them in a header, such as Authorization.",
    });
  }
  url.hash = "";
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url;
}
