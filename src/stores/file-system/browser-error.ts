import { type ErrorDetails, isZarrflowError, type PlainCode, ZarrflowError } from "../../util/errors.ts";

interface Meaning {
  readonly code: PlainCode;
  readonly reason: string;
  readonly hint?: string;
}

const ACCESS: Meaning = {
  code: "access-denied",
  reason: "the browser does not allow this access",
  hint: 'Ask the user first: handle.requestPermission({ mode: "readwrite" }).',
};
const IN_PLACE: Meaning = {
  code: "path-not-allowed",
  reason: "a folder is in the place of a file, or a file in that of a folder",
};

const meanings = new Map<string, Meaning>([
  ["NotAllowedError", ACCESS],
  ["SecurityError", ACCESS],
  ["NotFoundError", { code: "not-found", reason: "the file or folder is gone" }],
  ["TypeMismatchError", IN_PLACE],
  ["InvalidModificationError", IN_PLACE],
  ["TypeError", { code: "path-not-allowed", reason: "the browser does not allow this name" }],
  [
    "QuotaExceededError",
    {
      code: "no-space",
      reason: "the browser gives this site no more space",
      hint: "Remove what the site keeps, or choose a folder of the disk.",
    },
  ],
  [
    "NoModificationAllowedError",
    {
      code: "locked",
      reason: "another page or worker is writing the file",
      hint: "Wait for it, or close it.",
    },
  ],
  [
    "NotReadableError",
    {
      code: "source-changed",
      reason: "the file was changed, moved or removed after it was chosen",
      hint: "Choose it again.",
    },
  ],
]);

/** True for an error of the browser with one of these names, such as `NotFoundError`. */
export function isBrowserError(error: unknown, ...names: readonly string[]): boolean {
  return error instanceof Error && names.includes(error.name);
}

/** Converts an error of the browser to a `ZarrflowError` with `details`. */
export function browserError(error: unknown, details: ErrorDetails): unknown {
  if (isZarrflowError(error)) return error.addContext(details);
  if (!(error instanceof DOMException) && !(error instanceof TypeError)) return error;
  const known = meanings.get(error.name);
  const options = { cause: error };
  if (known === undefined) {
    const reason = `the browser failed: ${error.name}: ${error.message}`;
    return new ZarrflowError("transient", reason, details, options);
  }
  const { code, reason, hint } = known;
  return new ZarrflowError(code, reason, { ...details, ...(hint && { hint }) }, options);
}
