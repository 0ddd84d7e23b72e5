import { ZarrflowError } from "../../util/errors.ts";

/**
 * Headers that may hold secrets. The runtime's own error for one that cannot be sent shows it.
 *
 * @throws `invalid-option`
 */
export function secretHeaders(headers: Readonly<Record<string, string>> = {}): Headers {
  try {
    return new Headers(headers);
  } catch {
    throw unsendable();
  }
}

/** The error for credentials, or other headers, that no request can carry. */
export function unsendable(): ZarrflowError {
  return new ZarrflowError("invalid-option", "the credentials, or a header, hold what no header may hold", {
    hint: "look for line breaks amid them",
  });
}
