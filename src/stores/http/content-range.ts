/** What a `Content-Range` says: the bytes from `start` up to `end` of a value of `size` bytes. */
export interface ContentRange {
  readonly start: number;
  /** One past the last byte. */
  readonly end: number;
  /** Undefined where the server does not tell. */
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

/** The size that an unsatisfied range (416) tells: `bytes * /1234`, without the space. */
export function parseUnsatisfiedRange(header: string | null): number | undefined {
  const match = /^bytes \*\/(\d+)$/.exec(header?.trim() ?? "");
  return match === null ? undefined : Number(match[1]);
}
