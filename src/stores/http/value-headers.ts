import type { HttpResponse } from "./http-response.ts";

/**
 * The version of the value that a 200 or 206 is about: its entity tag, or when it was last changed and its size;
 * undefined where the server gives neither.
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

/** The entity tag by which a server compares values byte for byte, where a version is one. */
export function strongTag(version: string | undefined): string | undefined {
  return version?.startsWith('"') ? version : undefined;
}

/** Whether the body is a compressed form of the value, as it is stored or was made for this answer. */
export function isEncoded({ headers }: Pick<HttpResponse, "headers">): boolean {
  return (headers.get("content-encoding") ?? "identity") !== "identity";
}

/** Length of the body, where it is that of the value. */
export function statedLength(response: Pick<HttpResponse, "headers">): number | undefined {
  const length = response.headers.get("content-length");
  return isEncoded(response) || length === null || !/^\d+$/.test(length) ? undefined : Number(length);
}

/** What a `Content-Range` says: the bytes from `start` up to `end` of a value of `size` bytes. */
export interface ContentRange {
  readonly start: number;
  /** One past the last byte. */
  readonly end: number;
  /** Undefined where the server does not say. */
  readonly size: number | undefined;
}

/** Parses `bytes 0-99/1234`; undefined for what is none. @see RFC 9110, 14.4 */
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

/** The size that the answer to an unsatisfied range (416) gives: `bytes * /1234`, without the space. */
export function parseUnsatisfiedRange(header: string | null): number | undefined {
  const match = /^bytes \*\/(\d+)$/.exec(header?.trim() ?? "");
  return match === null ? undefined : Number(match[1]);
}
