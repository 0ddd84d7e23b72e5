import { plainBuffers } from "../../util/buffers.ts";
import { type ByteRange, resolveRange } from "../../util/byte-range.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { GetOptions } from "../store.ts";
import { assertMissing, assertVersion, sourceChanged } from "../version.ts";
import { failureOf } from "./http-failure.ts";
import type { HttpResponse } from "./http-response.ts";
import { isBrowser } from "./page.ts";
import { type BodyPart, countBytes, readBody, readText, readUnstated } from "./read-body.ts";
import {
  type ContentRange,
  parseContentRange,
  parseUnsatisfiedRange,
  statedLength,
  strongTag,
  versionOf,
} from "./value-headers.ts";

/** Asks a server for the value at `key`. @throws for a request that gets no answer. */
export type SendRequest = (
  method: "GET" | "HEAD",
  key: string,
  options: {
    readonly headers: { readonly range?: string; readonly "if-match"?: string };
    /** Statuses of `headers` that are answers, not failures. */
    readonly answers?: readonly number[];
    readonly signal: AbortSignal | undefined;
  },
) => Promise<HttpResponse>;

/** The value is not the one that was asked for by its entity tag. */
const NOT_THE_SAME = 412;

/** Bytes of a page in place of a value that are read to the end. */
const LONGEST_PAGE = 64 * 1024;

/**
 * Values of a server, whole and in parts. Parts are asked for as ranges; of a server without ranges the whole value is
 * fetched, as far as it is needed. An answer that is not what was asked for is an error, never data.
 *
 * @see RFC 9110, 14
 */
export class HttpValues {
  readonly #send: SendRequest;
  readonly #missing: readonly number[];
  /** Whether the server is still believed to know the last bytes of a value. */
  #hasSuffixes: boolean;

  /**
   * @param missing the statuses that stand for a value that is not there.
   * @param hasSuffixes whether the last bytes of a value are asked for as such.
   */
  constructor(send: SendRequest, missing: readonly number[], hasSuffixes: boolean) {
    this.#send = send;
    this.#missing = missing;
    this.#hasSuffixes = hasSuffixes;
  }

  /** As `Store.get`. @throws `short-read`, `transient`, `access-denied`, `unsupported-operation`. */
  async get(key: string, options: GetOptions = {}): Promise<Uint8Array | undefined> {
    const { range, allocate = plainBuffers.take } = options;
    if (range === undefined) return this.#whole(key, allocate, options);
    const asked = "suffix" in range && !this.#hasSuffixes ? await this.#absolute(key, range, options) : range;
    return asked && this.#part(key, asked, allocate, options);
  }

  /** As `Store.size`. @throws as `get` */
  async size(key: string, options: ValueState = {}): Promise<number | undefined> {
    const response = await this.#ask("HEAD", key, options);
    if (response === undefined) return undefined;
    if (response.status === 200) {
      const stated = statedLength(response);
      if (stated !== undefined) return stated;
    } else if (response.status !== 405 && response.status !== 501) throw await refusalOf(response);
    return this.#sizeByReading(key, options);
  }

  async #whole(key: string, allocate: Allocate, options: ValueState): Promise<Uint8Array | undefined> {
    const response = await this.#ask("GET", key, options);
    if (response === undefined) return undefined;
    if (response.status !== 200) throw await refusalOf(response);
    return this.#cut(response, { offset: 0 }, allocate, options);
  }

  async #part(
    key: string,
    range: ByteRange,
    allocate: Allocate,
    options: ValueState,
  ): Promise<Uint8Array | undefined> {
    if (lengthOf(range) === 0) return (await this.size(key, options)) === undefined ? undefined : allocate(0);
    const response = await this.#ask("GET", key, options, rangeHeader(range));
    if (response === undefined) return undefined;
    if (response.status === 200) return this.#cut(response, range, allocate, options);
    const found = parseContentRange(response.headers.get("content-range"));
    if (response.status === 206 && isWhatWasAsked(range, found, response)) {
      const length = found ? found.end - found.start : lengthOf(range);
      if (length === undefined) return readUnstated(response.body, range, allocate, options.maxBytes);
      return readBody(response.body, { skip: 0, length }, allocate);
    }
    await response.body?.cancel();
    if ("suffix" in range && (response.status === 206 || response.status === 416)) {
      this.#hasSuffixes = false;
      const absolute = await this.#absolute(key, range, options);
      return absolute && this.#part(key, absolute, allocate, options);
    }
    if (response.status === 416) return this.#beyond(response, key, range, allocate, options);
    if (response.status !== 206) throw await refusalOf(response);
    throw otherRange(range, found, response);
  }

  /** The part of a whole value, which a server without ranges has sent. */
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

  /** An empty part, for a range that begins at or behind the end of the value. */
  async #beyond(
    response: HttpResponse,
    key: string,
    range: ByteRange,
    allocate: Allocate,
    options: ValueState,
  ): Promise<Uint8Array | undefined> {
    const stated = parseUnsatisfiedRange(response.headers.get("content-range"));
    const size = stated ?? (await this.size(key, options));
    if (size === undefined) return undefined;
    if ("offset" in range && range.offset >= size) return allocate(0);
    throw otherRange(range, undefined, response);
  }

  /** The last bytes of a value, counted from its begin. */
  async #absolute(key: string, range: ByteRange, options: ValueState): Promise<ByteRange | undefined> {
    const size = await this.size(key, options);
    if (size === undefined) return undefined;
    const { skip, length } = partOf(range, size);
    return { offset: skip, length };
  }

  /** For servers that do not give the size to a HEAD. */
  async #sizeByReading(key: string, options: ValueState): Promise<number | undefined> {
    const response = await this.#ask("GET", key, options, "bytes=0-0");
    if (response === undefined) return undefined;
    const whole =
      parseContentRange(response.headers.get("content-range"))?.size ??
      parseUnsatisfiedRange(response.headers.get("content-range"));
    if (whole !== undefined) {
      await response.body?.cancel();
      return whole;
    }
    if (response.status !== 200) throw await refusalOf(response);
    const stated = statedLength(response);
    if (stated === undefined) {
      return countBytes(response.body);
    }
    await response.body?.cancel();
    return stated;
  }

  /**
   * Sends a request about a value, and checks that the answer is about the version that is asked for.
   *
   * @returns undefined where the value is missing
   * @throws `source-changed`
   */
  async #ask(
    method: "GET" | "HEAD",
    key: string,
    options: ValueState,
    range?: string,
  ): Promise<HttpResponse | undefined> {
    const { ifVersion, signal } = options;
    // Browsers ask a server first whether they may set conditions, which servers of plain files do not allow.
    const condition = isBrowser ? undefined : strongTag(ifVersion);
    const response = await this.#send(method, key, {
      headers: {
        ...(range !== undefined && { range }),
        ...(condition !== undefined && { "if-match": condition }),
      },
      ...(condition !== undefined && { answers: [404, NOT_THE_SAME, 416] }),
      signal,
    });
    try {
      if (this.#missing.includes(response.status))
        return await readAway(response).then(() => assertMissing(options));
      if (response.status === NOT_THE_SAME && condition !== undefined) {
        throw sourceChanged("the value was replaced while it was read");
      }
      if (response.status === 200 || response.status === 206) assertVersion(options, versionOf(response));
      return response;
    } catch (error) {
      await response.body?.cancel().catch(() => {});
      throw error;
    }
  }
}

/** The error for an answer whose body says nothing. */
async function refusalOf(response: HttpResponse): Promise<ZarrflowError> {
  await readAway(response);
  return failureOf(response);
}

/** Reads a page that says nothing, so that the connection can be used again; one that is long is cut off with it. */
async function readAway(response: HttpResponse): Promise<void> {
  await readText(response, LONGEST_PAGE).catch(() => {});
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
 * Whether a 206 holds the range that was asked for, cut at the end of the value. Where browsers hide its
 * `Content-Range`, the length of the body must say so.
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
  return new ZarrflowError("short-read", "the server returns another range than requested", {
    expected: rangeHeader(range),
    found: found
      ? `bytes ${found.start}-${found.end - 1}/${found.size ?? "*"}`
      : `${response.status} without a range`,
    hint: "Range requests to this server are unreliable; copy the data to another server or a folder.",
  });
}
