import type { ArrayMetadata } from "../../src/meta/array-metadata.ts";
import type { FormatDefinition, ParsedNode } from "../../src/meta/format.ts";
import { isZarrflowError, type ZarrflowError } from "../../src/util/errors.ts";
import { parseJson } from "../../src/util/json-parse.ts";
import type { JsonObject, JsonValue } from "../../src/util/json-value.ts";

/** JSON text as lossless JSON; bare NaN tokens are taken. */
export function json(text: string): JsonValue {
  return parseJson(bytesOf(text), { allowNonFinite: () => true });
}

/** A codec, a grid or a data type as v3 has it. */
export const named = (name: string, configuration: object = {}) => ({
  name,
  configuration: configuration as JsonObject,
});

export function bytesOf(document: unknown): Uint8Array {
  return new TextEncoder().encode(typeof document === "string" ? document : JSON.stringify(document));
}

export function textOf(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes);
}

export function hex(bytes: Uint8Array | null | undefined): string | null | undefined {
  return bytes && Buffer.from(bytes).toString("hex");
}

/** The error that `act` throws. */
export function failure(act: () => unknown): ZarrflowError {
  try {
    act();
  } catch (error) {
    if (isZarrflowError(error)) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** Code and JSON pointer of the error that `act` throws. */
export function refusal(act: () => unknown): string {
  const { code, details } = failure(act);
  return `${code} ${details.pointer}`;
}

/** The JSON pointers of the `loss-refused` that `act` throws. */
export function lostPointers(act: () => unknown): readonly string[] {
  const error = failure(act);
  if (!isZarrflowError(error, "loss-refused")) throw error;
  return error.details.pointers;
}

/** What `format` makes of documents, given as JSON texts or values by key. */
export function parseWith(
  zarrFormat: FormatDefinition,
  documents: Record<string, unknown>,
  path = "",
): ParsedNode | undefined {
  const bytes = new Map(Object.entries(documents).map(([key, document]) => [key, bytesOf(document)]));
  return zarrFormat.parse(bytes, zarrFormat.layout(path));
}

export function arrayWith(zarrFormat: FormatDefinition, documents: Record<string, unknown>): ArrayMetadata {
  const metadata = parseWith(zarrFormat, documents)?.metadata;
  if (metadata?.kind !== "array") throw new Error("no array");
  return metadata;
}

/** The documents that `format` writes, as texts by key. */
export function writeWith(
  zarrFormat: FormatDefinition,
  metadata: Parameters<FormatDefinition["write"]>[0],
  options?: Parameters<FormatDefinition["write"]>[2],
): Record<string, string> {
  const documents = zarrFormat.write(metadata, zarrFormat.layout(""), options);
  return Object.fromEntries([...documents].map(([key, bytes]) => [key, textOf(bytes)]));
}
