import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { type JsonCut, parseJsonCut } from "../util/json-cut.ts";
import { maxMemoryOf } from "../util/json-memory.ts";
import { type ParseJsonOptions, parseJson } from "../util/json-parse.ts";
import {
  JsonNumber,
  type JsonObject,
  type JsonPath,
  type JsonValue,
  pointerOf,
  pointerTo,
} from "../util/json-value.ts";
import type { Original, ZarrFormat } from "./array-metadata.ts";
import {
  assertObject,
  integerOf,
  invalidMetadata,
  memberOr,
  refusal,
  required,
  tokenOf,
} from "./assert-json.ts";
import type { DocumentLimits, Finding, NodeLayout } from "./format.ts";

/** Code shared by the documents of all formats. */

/** The finding for a bare NaN token. */
export const BARE_NON_FINITE = "a bare NaN or Infinity, which JSON does not allow";

/** Most bare NaN tokens of a document that get their own finding. */
const MAX_NON_FINITE = 100;

/** Runs `read` on one document, and adds the document to its errors. */
export function inDocument<T>(layout: NodeLayout, key: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (isZarrflowError(error)) error.addContext({ format: layout.zarrFormat, path: layout.path, key });
    throw error;
  }
}

/** Parses the document as an object. Accepts bare NaN tokens where `allowNonFinite` permits, each with a finding. */
export function parseDocument(
  bytes: Uint8Array,
  findings: Finding[],
  allowNonFinite: (path: JsonPath) => boolean,
  { maxMetadata, cut }: DocumentLimits & { readonly cut?: JsonCut } = {},
): JsonObject {
  let count = 0;
  const options: ParseJsonOptions = {
    maxMemory: maxMemoryOf(maxMetadata),
    allowNonFinite: (path) => {
      const allowed = allowNonFinite(path);
      if (allowed && ++count <= MAX_NON_FINITE)
        findings.push({
          message: BARE_NON_FINITE,
          pointer: pointerOf(path),
        });
      return allowed;
    },
  };
  const json = cut ? parseJsonCut(bytes, cut, options).json : parseJson(bytes, options);
  if (count > MAX_NON_FINITE)
    findings.push({
      message: `${count - MAX_NON_FINITE} more bare NaN or Infinity, which JSON does not allow`,
    });
  return assertObject(json, "");
}

/** The members of `document` that are not in `known`. */
export function otherNames(document: JsonObject, known: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !known.includes(name)));
}

/** Members to write again; those from another format are a loss. */
export function keptNames(
  extra: Original<JsonObject> | undefined,
  zarrFormat: ZarrFormat,
  losses: Losses,
): JsonObject {
  if (extra === undefined || extra.zarrFormat === zarrFormat) return extra?.json ?? {};
  for (const name of Object.keys(extra.json)) {
    losses.add(pointerTo("", name), `a member that exists only in ${extra.zarrFormat}`);
  }
  return {};
}

/** Reports numbers that JSON cannot represent; they are written as `null`. */
export function noteNonFinite(value: JsonValue, pointer: string, losses: Losses): void {
  if (typeof value === "number" && !Number.isFinite(value)) losses.add(pointer, `${value} is not JSON`);
  if (typeof value !== "object" || value === null || value instanceof JsonNumber) return;
  for (const [name, item] of Object.entries(value)) noteNonFinite(item, pointerTo(pointer, name), losses);
}

/** Checks that `zarr_format` is `number`. @throws `invalid-metadata`, `unsupported-format` */
export function assertFormatNumber(document: JsonObject, number: 1 | 2 | 3): void {
  const format = required(document, "zarr_format");
  if (integerOf(format) === BigInt(number)) return;
  const reason = `the number ${number}`;
  if (tokenOf(format) === undefined) throw invalidMetadata("/zarr_format", `must be ${reason}`, format);
  throw refusal("unsupported-format", "/zarr_format", `not ${reason}`, format);
}

/** The document's attributes; empty if absent. */
export function attributesOf(document: JsonObject): JsonObject {
  return assertObject(memberOr(document, "attributes", {}), "/attributes");
}

/** Collects the metadata of a node that a format cannot represent, to report all in one error. */
export class Losses {
  readonly #allowed: readonly string[];
  readonly #refused: { readonly pointer: string; readonly reason: string; readonly mayBeAllowed: boolean }[] =
    [];

  constructor(allowed: readonly string[] = []) {
    this.#allowed = allowed;
  }

  /** Records that the metadata at `pointer` would be lost; if the user allows this, they are omitted. */
  add(pointer: string, reason: string): void {
    const isAllowed = this.#allowed.some((one) => pointer === one || pointer.startsWith(`${one}/`));
    if (!isAllowed) this.#refused.push({ pointer, reason, mayBeAllowed: true });
  }

  /** Records that the data cannot be read without the metadata at `pointer`. */
  require(pointer: string, reason: string): void {
    this.#refused.push({ pointer, reason, mayBeAllowed: false });
  }

  /** @throws `loss-refused` unless all losses were allowed. */
  check(format: string, path: string): void {
    const [first] = this.#refused;
    if (first === undefined) return;
    const list = this.#refused.map(({ pointer, reason }) => `${pointer} (${reason})`).join(", ");
    throw new ZarrflowError("loss-refused", `${format} cannot represent ${list}`, {
      format,
      path,
      pointers: [...new Set(this.#refused.map(({ pointer }) => pointer))],
      hint: this.#refused.every(({ mayBeAllowed }) => mayBeAllowed)
        ? "List each pointer in `--allow-loss` (`allowLoss`), or choose a format that can represent it."
        : "The data cannot be read without it. Choose a format that can represent it or another codec, or exclude the array from the group (`--exclude`).",
    });
  }
}
