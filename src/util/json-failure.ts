import { ZarrflowError } from "./errors.ts";
import { type JsonPath, pointerOf } from "./json-pointer.ts";

/** Where a document stops being valid JSON, and what was expected there. */
interface Mistake {
  readonly place: { readonly line: number; readonly column: number };
  readonly path: JsonPath;
  readonly expected: string;
  /** The text from there on; empty at the end of the document. */
  readonly rest: string;
}

export function notValid({ place: { line, column }, path, expected, rest }: Mistake): ZarrflowError {
  return new ZarrflowError("invalid-metadata", `not valid JSON at line ${line}, column ${column}`, {
    pointer: pointerOf(path),
    expected,
    found: rest === "" ? "the end of the document" : `\`${rest}\``,
  });
}

export function tooLarge(bytes: number, maxBytes: number): ZarrflowError {
  return new ZarrflowError("resource-limit", "the JSON document is too large", {
    expected: `at most ${maxBytes} bytes`,
    found: bytes,
  });
}

export function tooDeep(maxDepth: number): ZarrflowError {
  return new ZarrflowError("resource-limit", `the JSON document is nested more than ${maxDepth} deep`);
}
