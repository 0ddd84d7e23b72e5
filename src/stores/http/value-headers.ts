import type { HttpResponse } from "./http-response.ts";

/**
 * Returns the version of the value in a 200 or 206: its entity tag, or its modification time and size; undefined
 * if the server gives neither.
 *
 * @see RFC 9110, 8.8
 */
export function versionOf(response: Pick<HttpResponse, "status" | "headers">): string | undefined {
  const { status, headers } = response;
  const tag = headers.get("etag");
  if (tag !== null) return tag;
  const changed = headers.get("last-modified");
  const size =
    status === 206 ? parseContentRange(headers.get("content-range"))?.size : statedLength(response);
  return changed === null || size === undefined ? undefined : `${changed} ${size}`;
}

/**
 * Returns the entity tag that a version is, if it is a strong one, by which servers compare values byte for byte.
 */
export function strongTag(version: string | undefined): string | undefined {
  return version?.startsWith('"') ? version : undefined;
}

/** True if the body is a compressed form of the value, stored that way or compressed for this response. */
export function isEncoded({ headers }: Pick<HttpResponse, "headers">): boolean {
  return (headers.get("content-encoding") ?? "identity") !== "identity";
}

/** Returns the length of the body, if it is the length of the value. */
export function statedLength(response: Pick<HttpResponse, "headers">): number | undefined {
  const length = response.headers.get("content-length");
  return isEncoded(response) || length === null || !/^\d+$/.test(length) ? undefined : Number(length);
}

/** A parsed `Content-Range`: bytes `start` to `end` of a value of `size` bytes. */
export interface ContentRange {
  readonly start: number;
  /** One past the last byte. */
  readonly end: number;
  /** Undefined if the server does not state it. */
  readonly size: number | undefined;
}

/** Parses `bytes 0-99/1234`; undefined for anything else. @see RFC 9110, 14.4 */
export function parseContentRange(header: string | null): ContentRange | undefined {
  const match = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(header?.trim() ?? "");
  if (match === null) return undefined;
  const [, first, last, total] = match;
  const start = Number(first);
  const end = Number(last) + 1;
  const size = total === "*" ? undefined : Number(total);
  const isSound = Number.isSafeInteger(end) && start < end && (size === undefined || end <= size);
  return isSound ? { start, end, size } : undefined;
}

/** Parses the size from a 416 response, `bytes * /1234` without the space. */
export function parseUnsatisfiedRange(header: string | null): number | undefined {
  const match = /^bytes \*\/(\d+)$/.exec(header?.trim() ?? "");
  return match === null ? undefined : Number(match[1]);
}
