import { ZarrflowError } from "../../util/errors.ts";
import { environment } from "../../util/platform.node.ts";
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

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Normalizes headers that may contain secrets: names in lower case, values without surrounding white space.
 * Invalid headers are rejected here, because the runtime's own error would show them.
 *
 * @see RFC 9110, 5.5
 * @throws `invalid-option`
 */
export function secretHeaders(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  const sent: Record<string, string> = {};
  for (const [name, text] of Object.entries(headers)) {
    const value = text.replace(/^[\t\r\n ]+|[\t\r\n ]+$/g, "");
    if (!NAME.test(name) || !VALUE.test(value)) {
      throw new ZarrflowError(
        "invalid-option",
        "the credentials or a header contain characters that headers must not contain",
        { hint: "Check them for line breaks." },
      );
    }
    sent[name.toLowerCase()] = value;
  }
  return sent;
}

/**
 * Parses headers from text, one `NAME: VALUE` a line; undefined without any. Values of the same name are
 * joined.
 *
 * @throws `invalid-option`, without showing the text.
 */
export function headersIn(text: string): Record<string, string> | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  if (lines.length === 0) return undefined;
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name = "", value = ""] = /^([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === "" || value === "") {
      throw new ZarrflowError("invalid-option", "this is not a header", {
        expected: "NAME: VALUE",
        hint: "Write --header 'Authorization: Bearer ...'; --header @FILE and ZARRFLOW_HEADERS contain one such header per line.",
      });
    }
    const key = name.toLowerCase();
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  return secretHeaders(headers);
}

/** Returns the headers and the query that the environment sets for web servers. */
export function environmentAccess(): { readonly headers?: Record<string, string>; readonly query?: string } {
  const { ZARRFLOW_HEADERS: text = "", ZARRFLOW_QUERY: query } = environment();
  const headers = headersIn(text);
  return { ...(headers && { headers }), ...(query && { query }) };
}
