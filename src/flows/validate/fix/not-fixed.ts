import { BARE_NON_FINITE } from "../../../meta/documents.ts";
import type { ValidateFinding } from "../finding.ts";
import type { Fix } from "./fix.ts";

const UNKNOWN = "Only the author of the data knows what is right.";
const LOST = "The values of the chunk are lost; write it again.";
const WANTED = "It is not certain that nobody wants it.";
const ACTIVE = "It may belong to a run that is active; `zarrflow clean --break-lock` removes it.";

/** Reason why findings of each kind are not fixed. */
const REASONS: Readonly<Record<ValidateFinding["what"], string>> = {
  metadata: UNKNOWN,
  "missing-value": UNKNOWN,
  "dimension-lengths": UNKNOWN,
  "implied-group": "A group without a document is valid; `createGroup` writes one.",
  "lone-attributes": UNKNOWN,
  "inside-array": UNKNOWN,
  "sibling-names": UNKNOWN,
  "foreign-document": WANTED,
  "stale-consolidated": "A document cannot be read.",
  "no-consolidated": "Consolidated metadata are optional; `zarrflow copy` writes them.",
  "outside-grid": "The array has no document of its own.",
  "other-separator": UNKNOWN,
  "orphan-chunk":
    "It is not certain that its array was deleted: its document may be lost. Write the document again, or remove the chunks.",
  "unknown-key": "It is not certain that it belongs to an array.",
  "zip-entry": "Entries that are no keys would be lost if the zip were written again.",
  "missing-chunks": "Missing chunks are valid.",
  "chunk-size": LOST,
  "broken-chunk": LOST,
  unreadable: WANTED,
  "open-upload": ACTIVE,
  lock: ACTIVE,
  leftover: ACTIVE,
  "not-checked": "The store does not allow it.",
};

/** Pointer of two kinds of findings that one fix covers. */
const MISSING_VALUE = "/attributes/_FillValue";

const NON_FINITE = "JSON has no NaN, and a string or null would mean something else; change the attribute.";
const FILL_VALUE = "The format has no other form for it here.";

/** Leftovers of runs, which are not part of a node. */
const LEFT: readonly ValidateFinding["what"][] = ["leftover", "lock", "open-upload"];

/** Adds to a finding the reason why it was not fixed; leaves it unchanged if a dry run would fix it. */
export function withReason(
  finding: ValidateFinding,
  fixes: readonly Fix[],
  isZipKept: boolean,
): ValidateFinding {
  const isPlanned = fixes.some((fix) => isOf(fix, finding));
  return isPlanned
    ? finding
    : {
        ...finding,
        notFixed: isZipKept && MENDED.includes(finding.what) ? REASONS["zip-entry"] : reasonFor(finding),
      };
}

/** Findings that are fixed in zips by rewriting them. */
const MENDED: readonly ValidateFinding["what"][] = ["metadata", "outside-grid", "stale-consolidated"];

function isOf(fix: Fix, { what, path, pointer, place }: ValidateFinding): boolean {
  if (LEFT.includes(what)) return fix.what === what && fix.place === place;
  const isSameKind = fix.what === what || pointer === MISSING_VALUE;
  return isSameKind && fix.path === path && fix.pointer === pointer;
}

function reasonFor({ what, message, pointer }: ValidateFinding): string {
  if (message !== BARE_NON_FINITE) return REASONS[what];
  return pointer === "/fill_value" ? FILL_VALUE : NON_FINITE;
}
