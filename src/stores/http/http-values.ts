import { type ByteRange, resolveRange } from "../../util/byte-range.ts";
import { plainBuffers } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { GetOptions } from "../store.ts";
import { assertMissing, assertVersion, sourceChanged } from "../version.ts";
import {
  type ContentRange,
  isEncoded,
  parseContentRange,
  parseUnsatisfiedRange,
  statedLength,
  strongTag,
  versionOf,
} from "./headers.ts";
import { type HttpResponse, isPage, pageInPlace, statusFailure } from "./http-response.ts";
import { isBrowser } from "./page.ts";
import { type BodyPart, countBytes, readBody, readBodyText, readUnstated } from "./read-body.ts";

/** Sends a request for the value at `key`. @throws if there is no response. */
export type SendRequest = (
  method: "GET" | "HEAD",
  key: string,
  options: {
    readonly headers: { readonly range?: string; readonly "if-match"?: string };
    /** Statuses that are answers, not failures. */
    readonly answers?: readonly number[];
    readonly signal: AbortSignal | undefined;
  },
) => Promise<HttpResponse>;

/** Statuses of a HEAD after which a GET may still succeed: a signed URL, for example, may allow only GET. */
export const REFUSED_HEAD: readonly number[] = [403, 405, 501];

/** Status for a value whose entity tag is not the requested one. */
const NOT_THE_SAME = 412;

/** Keys of values that are web pages. */
const PAGE_KEY = /\.x?html?$/i;

/** Maximum size in bytes of a web page that is read to its end, so that the connection can be reused. */
const LONGEST_PAGE = 64 * 1024;

export interface ServerManners {
  /** Statuses that mean a missing value. */
  readonly missing: readonly number[];
  /** True to request the last bytes of a value as a suffix range. */
  readonly hasSuffixes: boolean;
  /**
   * True if values may be HTML pages. Otherwise a page is taken for an error page.
   *
   * @default true
   */
  readonly mayBePages?: boolean;
}

/**
 * Values of a server, whole and in parts. Parts are requested as ranges; from a server without ranges, the value is
 * fetched from its start to the end of the part. An unexpected response is an error, never data.
 *
 * @see RFC 9110, 14
 */
export class HttpValues {
  readonly #send: SendRequest;
  readonly #missing: readonly number[];
  readonly #mayBePages: boolean;
  /** True until a suffix range has failed. */
  #hasSuffixes: boolean;
  /** True until a HEAD has failed to give the size. */
  #hasHeads = true;

  /** @param send returns responses with status 403, 405 and 501 to a HEAD, instead of throwing. */
  constructor(send: SendRequest, { missing, hasSuffixes, mayBePages = true }: ServerManners) {
    this.#send = send;
    this.#missing = missing;
    this.#mayBePages = mayBePages;
    this.#hasSuffixes = hasSuffixes;
  }

  /** Like `Store.get`. @throws `short-read`, `transient`, `access-denied`, `unsupported-operation`. */
  async get(key: string, options: GetOptions = {}): Promise<Uint8Array | undefined> {
    const { range, allocate = plainBuffers.take } = options;
    if (range === undefined) return this.#whole(key, allocate, options);
    if ("suffix" in range && !this.#hasSuffixes) return this.#lastBytes(key, range, allocate, options);
    return this.#part(key, range, allocate, options);
  }

  /** Like `Store.size`. @throws as `get` */
  async size(key: string, options: ValueState = {}): Promise<number | undefined> {
    if (!this.#hasHeads) return this.#sizeByReading(key, options);
    const response = await this.#ask("HEAD", key, options);
    if (response === undefined) return undefined;
    if (response.status === 200) {
      const stated = statedLength(response);
      if (stated) return stated; // some servers state 0 for an unknown size
    } else if (!REFUSED_HEAD.includes(response.status)) throw await refusalOf(response);
    else if (response.status !== 403) this.#hasHeads = false;
    return this.#sizeByReading(key, options);
  }

  async #whole(
    key: string,
    allocate: Allocate,
    options: ValueState,
    range: ByteRange = { offset: 0 },
  ): Promise<Uint8Array | undefined> {
    const response = await this.#ask("GET", key, options);
    if (response === undefined) return undefined;
    if (response.status !== 200) throw await refusalOf(response);
    return this.#cut(response, range, allocate, options);
  }

  /** @param suffix the requested suffix, if `range` was derived from it and from the size that a HEAD stated. */
  async #part(
    key: string,
    range: ByteRange,
    allocate: Allocate,
    options: ValueState,
    suffix?: { readonly range: ByteRange; readonly size: number },
  ): Promise<Uint8Array | undefined> {
    if (lengthOf(range) === 0) return (await this.size(key, options)) === undefined ? undefined : allocate(0);
    const response = await this.#ask("GET", key, options, rangeHeader(range));
    if (response === undefined) return undefined;
    const meant = suffix?.range ?? range;
    if (response.status === 200) return this.#cut(response, meant, allocate, options);
    if (response.status === 206 && isEncoded(response)) {
      // a part of the compressed form of the value
      await response.body?.cancel();
      return this.#whole(key, allocate, options, meant);
    }
    const found = parseContentRange(response.headers.get("content-range"));
    if (suffix && found?.size !== undefined && found.size !== suffix.size) {
      await response.body?.cancel();
      this.#hasHeads = false; // HEAD states sizes that values do not have
      return this.#part(key, resolveRange(suffix.range, found.size), allocate, options);
    }
    if (response.status === 206 && isWhatWasAsked(range, found, response)) {
      const length = found ? found.end - found.start : lengthOf(range);
      if (length === undefined) return readUnstated(response.body, range, allocate, options.maxBytes);
      return readBody(response.body, { skip: 0, length }, allocate);
    }
    await response.body?.cancel();
    if ("suffix" in range && (response.status === 206 || response.status === 416)) {
      this.#hasSuffixes = false;
      return this.#lastBytes(key, range, allocate, options);
    }
    if (response.status === 416) return this.#beyond(response, key, meant, allocate, options);
    if (response.status !== 206) throw await refusalOf(response);
    throw otherRange(range, found, response);
  }

  /** Cuts the range from a whole value, which a server without ranges has sent. */
  async #cut(
    response: HttpResponse,
    range: ByteRange,
    allocate: Allocate,
    { maxBytes }: ValueState,
  ): Promise<Uint8Array> {
    const size = statedLength(response);
    if (size !== undefined) return readBody(response.body, partOf(range, size), allocate);
    return readUnstated(response.body, range, allocate, maxBytes);
  }

  /** Returns an empty part, for a range that starts at or after the end of the value. */
  async #beyond(
    response: HttpResponse,
    key: string,
    range: ByteRange,
    allocate: Allocate,
    options: ValueState,
  ): Promise<Uint8Array | undefined> {
    const stated = parseUnsatisfiedRange(response.headers.get("content-range"));
    const size = await this.size(key, options);
    if (size === undefined) return undefined;
    if ("offset" in range && range.offset >= size) return allocate(0);
    // the stated size may be the size of the compressed form
    if (stated !== undefined && stated !== size) return this.#whole(key, allocate, options, range);
    throw otherRange(range, undefined, response);
  }

  /** Reads the last bytes of a value as a range from its start. */
  async #lastBytes(
    key: string,
    range: ByteRange,
    allocate: Allocate,
    options: ValueState,
  ): Promise<Uint8Array | undefined> {
    const size = await this.size(key, options);
    if (size === undefined) return undefined;
    return this.#part(key, resolveRange(range, size), allocate, options, { range, size });
  }

  /** Finds the size of a value on servers that do not give it to a HEAD. */
  async #sizeByReading(key: string, options: ValueState): Promise<number | undefined> {
    const response = await this.#ask("GET", key, options, "bytes=0-0");
    if (response === undefined) return undefined;
    const range = response.headers.get("content-range");
    const ofPart = parseContentRange(range)?.size ?? parseUnsatisfiedRange(range);
    const size = isEncoded(response) ? undefined : response.status === 200 ? statedLength(response) : ofPart;
    if (size !== undefined) {
      await response.body?.cancel();
      return size;
    }
    if (response.status === 200) return countBytes(response.body);
    if (response.status !== 206 && response.status !== 416) throw await refusalOf(response);
    await response.body?.cancel();
    const whole = await this.#ask("GET", key, options);
    if (whole && whole.status !== 200) throw await refusalOf(whole);
    return whole && countBytes(whole.body);
  }

  /**
   * Sends a request about a value, and checks that the response is about the requested version.
   *
   * @returns undefined if the value is missing
   * @throws `source-changed`
   */
  async #ask(
    method: "GET" | "HEAD",
    key: string,
    options: ValueState,
    range?: string,
  ): Promise<HttpResponse | undefined> {
    const { ifVersion, signal } = options;
    // For a conditional request to another origin, browsers send a preflight request, which servers of plain files
    // reject.
    const condition = isBrowser ? undefined : strongTag(ifVersion);
    const response = await this.#send(method, key, {
      headers: {
        ...(range !== undefined && { range }),
        ...(condition !== undefined && { "if-match": condition }),
      },
      answers: [
        404,
        416,
        ...(condition !== undefined ? [NOT_THE_SAME] : []),
        ...(method === "HEAD" ? REFUSED_HEAD : []),
      ],
      signal,
    });
    const { status } = response;
    const isMissing = this.#missing.includes(status) && !(method === "HEAD" && REFUSED_HEAD.includes(status));
    try {
      if (isMissing) return await readAway(response).then(() => assertMissing(options));
      if (
        !this.#mayBePages &&
        (status === 200 || status === 206) &&
        isPage(response) &&
        !PAGE_KEY.test(key)
      ) {
        await readAway(response);
        throw pageInPlace(response);
      }
      if (status === NOT_THE_SAME && condition !== undefined) {
        throw sourceChanged("the value was replaced while it was being read");
      }
      if (status === 200 || status === 206) assertVersion(options, versionOf(response));
      return response;
    } catch (error) {
      await response.body?.cancel().catch(() => {});
      throw error;
    }
  }
}

/** Makes the error for a response whose body is irrelevant. */
async function refusalOf(response: HttpResponse): Promise<ZarrflowError> {
  await readAway(response);
  return statusFailure(response);
}

/** Reads an irrelevant body, so that the connection can be reused. A long one is cut off, with its connection. */
async function readAway(response: HttpResponse): Promise<void> {
  await readBodyText(response, LONGEST_PAGE).catch(() => {});
}

type Allocate = (byteLength: number) => Uint8Array;
type ValueState = Pick<GetOptions, "ifVersion" | "maxBytes" | "onVersion" | "signal">;

function rangeHeader(range: ByteRange): string {
  if ("suffix" in range) return `bytes=-${range.suffix}`;
  const last = range.length === undefined ? "" : range.offset + range.length - 1;
  return `bytes=${range.offset}-${last}`;
}

function lengthOf(range: ByteRange): number | undefined {
  return "suffix" in range ? range.suffix : range.length;
}

function partOf(range: ByteRange, size: number): BodyPart {
  const { offset: skip, length } = resolveRange(range, size);
  return { skip, length };
}

/**
 * True if a 206 contains the requested range, cut at the end of the value. If a browser hides `Content-Range`, the
 * length of the body must match.
 */
function isWhatWasAsked(range: ByteRange, found: ContentRange | undefined, response: HttpResponse): boolean {
  if (found === undefined)
    return !response.headers.has("content-range") && statedLength(response) === lengthOf(range);
  const { start, end, size } = found;
  if (size !== undefined) {
    const { offset, length } = resolveRange(range, size);
    return start === offset && end === offset + length;
  }
  return "offset" in range && start === range.offset && end - start === range.length;
}

function otherRange(
  range: ByteRange,
  found: ContentRange | undefined,
  response: HttpResponse,
): ZarrflowError {
  return new ZarrflowError("short-read", "the server returned a different range than requested", {
    expected: rangeHeader(range),
    found: found
      ? `bytes ${found.start}-${found.end - 1}/${found.size ?? "*"}`
      : `status ${response.status} without a range`,
    hint: "Range requests to this server are unreliable. Copy the data to another server or to a folder.",
  });
}
