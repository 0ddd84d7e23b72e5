import { refreshConsolidated } from "../../../hierarchy/edit/consolidated.ts";
import type { ZarrNode } from "../../../hierarchy/node.ts";
import { readDocument } from "../../../hierarchy/stored-documents.ts";
import { isObject, member } from "../../../meta/assert-json.ts";
import { FILL_VALUE_ATTRIBUTE, writeMissing } from "../../../meta/conventions/missing-value.ts";
import { formatNamed } from "../../../meta/formats.ts";
import { floatBytes } from "../../../meta/number-bytes.ts";
import type { WritableStore } from "../../../stores/store.ts";
import { isZarrflowError } from "../../../util/errors.ts";
import { parseJson } from "../../../util/json-parse.ts";
import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { writeJson } from "../../../util/json-write.ts";
import { ancestorPaths } from "../../../util/node-path.ts";
import type { ReadNodes } from "../nodes.ts";
import { done, type Fix, fixed } from "./fix.ts";

/** A document of an array, as it should be. */
interface MendedDocument {
  readonly path: string;
  readonly key: string;
  readonly bytes: Uint8Array;
  /** The changes that were made to it. */
  readonly changes: readonly Change[];
}

/** A changed member, with its new value. */
interface Change {
  readonly name: "fill_value" | "_FillValue" | "dimension_separator";
  readonly value: JsonValue;
}

/** Text of each change: what was wrong, and what was done. */
const SAID: Readonly<Record<Change["name"], readonly [was: string, done: string]>> = {
  fill_value: ["a bare NaN or Infinity as the fill value", "rewritten as a string"],
  _FillValue: ["a bare NaN or Infinity as the missing value", "rewritten as the Base64 that xarray reads"],
  dimension_separator: [
    "`dimension_separator`, which the document omits,",
    'written as "/", as the chunks have it',
  ],
};

/**
 * Corrects documents of arrays, and keeps consolidated metadata up to date. Fill values that are bare tokens become the
 * formats' strings for NaN and infinities; missing values of v3 get the form that xarray reads; v2 documents get the
 * omitted separator that their chunk keys have.
 */
export async function* fixDocuments(
  root: ZarrNode,
  store: WritableStore,
  { nodes, broken }: ReadNodes,
  { dryRun, signal }: { readonly dryRun: boolean; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<Fix> {
  const { zarrFormat } = root.layout;
  if (zarrFormat !== "v2" && zarrFormat !== "v3") return;
  const { maxMetadata } = root.reading;
  const reading = { maxMetadata, signal };
  const documents = new Map<string, Uint8Array>();
  const mended: MendedDocument[] = [];
  for (const path of [...nodes.keys(), ...broken]) {
    const node = nodes.get(path);
    if (node?.kind === "group") continue;
    const isNested = node?.metadata.kind === "array" && node.metadata.chunkKeyEncoding.separator === "/";
    const name = zarrFormat === "v2" ? ".zarray" : "zarr.json";
    for (const key of formatNamed(zarrFormat).layout(path).documentKeys) {
      const bytes = node?.documents.get(key) ?? (await documentAt(store, key, reading));
      if (bytes === undefined) continue;
      documents.set(key, bytes);
      if (key !== name && !key.endsWith(`/${name}`)) continue;
      const after = mend(bytes, zarrFormat, isNested);
      if (after === undefined) continue;
      documents.set(key, after.bytes);
      mended.push({ path, key, ...after });
    }
  }
  if (mended.length === 0) return;
  const paths = mended.map(({ path }) => path);
  const groups = new Set(paths.flatMap((path) => ancestorPaths(path)));
  await refreshConsolidated(
    store,
    { groups: [...groups], nodes: paths },
    async () => {
      for (const { key, bytes } of mended) await store.set(key, bytes);
      const written = new Map<string, Uint8Array>();
      for (const path of paths) {
        for (const key of formatNamed(zarrFormat).layout(path).documentKeys) {
          const bytes = documents.get(key);
          if (bytes) written.set(key, bytes);
        }
      }
      return { written };
    },
    reading,
  );
  for (const { path, key, changes } of mended) {
    for (const { name } of changes) {
      const [was, verb] = SAID[name];
      const pointer = name === "_FillValue" ? `/attributes/${name}` : `/${name}`;
      yield fixed("metadata", path, `${was} ${done("was", verb, dryRun)}`, { key, pointer });
    }
  }
}

/** A document, or undefined if it cannot be read, which is reported elsewhere. */
async function documentAt(
  store: WritableStore,
  key: string,
  options: { readonly maxMetadata?: number | undefined; readonly signal?: AbortSignal | undefined },
): Promise<Uint8Array | undefined> {
  try {
    return (await readDocument(store, key, options))?.bytes;
  } catch (error) {
    if (isZarrflowError(error, "resource-limit") || isZarrflowError(error, "corrupt-store")) return undefined;
    throw error;
  }
}

/** The corrected document of an array; undefined if it needs no correction or cannot be parsed. */
function mend(
  bytes: Uint8Array,
  zarrFormat: "v2" | "v3",
  isNested: boolean,
): Pick<MendedDocument, "bytes" | "changes"> | undefined {
  const document = parsed(bytes);
  if (!isObject(document)) return undefined;
  const changes: Change[] = [];
  const fill = isFloatArray(document, zarrFormat) ? withoutTokens(document.fill_value) : undefined;
  if (fill !== undefined) changes.push({ name: "fill_value", value: fill });
  const missing = zarrFormat === "v3" ? missingInBase64(document) : undefined;
  if (missing !== undefined) changes.push({ name: FILL_VALUE_ATTRIBUTE, value: missing });
  if (zarrFormat === "v2" && isNested && !Object.hasOwn(document, "dimension_separator"))
    changes.push({ name: "dimension_separator", value: "/" });
  if (changes.length === 0) return undefined;
  const members = changes.filter(({ name }) => name !== FILL_VALUE_ATTRIBUTE);
  const attributes = missing !== undefined && {
    attributes: { ...(document.attributes as JsonObject), [FILL_VALUE_ATTRIBUTE]: missing },
  };
  const after: JsonObject = {
    ...document,
    ...Object.fromEntries(members.map(({ name, value }) => [name, value])),
    ...attributes,
  };
  const text = writeJson(after, { indent: zarrFormat === "v2" ? 4 : 2, ascii: true, nonFinite: "token" });
  return { bytes: new TextEncoder().encode(text), changes };
}

/**
 * A bare NaN or Infinity as the missing value of a float variable, in the Base64 form of xarray, its only reader in v3;
 * undefined for other values.
 */
function missingInBase64(document: JsonObject): JsonValue | undefined {
  const { attributes, data_type: dataType, dimension_names: names, node_type: kind } = document;
  const isVariable = Array.isArray(names) && names.every((name) => typeof name === "string");
  if (kind !== "array" || !isVariable || !isObject(attributes)) return undefined;
  const value = member(attributes, FILL_VALUE_ATTRIBUTE);
  const isBare = typeof value === "number" && !Number.isFinite(value);
  if (!isBare || !/^float(?:16|32|64)$/.test(String(dataType))) return undefined;
  return writeMissing(floatBytes(value, 8), { kind: "float", size: 8 });
}

function parsed(bytes: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(bytes, { allowNonFinite: () => true });
  } catch (error) {
    if (isZarrflowError(error)) return undefined;
    throw error;
  }
}

/** True if a document describes an array with a float or complex fill value. */
function isFloatArray(document: JsonObject, zarrFormat: "v2" | "v3"): boolean {
  if (zarrFormat === "v2") return /^[<>|=]?[fc]\d+$/.test(String(document.dtype));
  return document.node_type === "array" && /^(?:float|bfloat|complex)\d/.test(String(document.data_type));
}

/** A fill value with strings in place of bare tokens; undefined if it has none. */
function withoutTokens(fill: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(fill)) {
    const parts = fill.map(withoutTokens);
    return parts.every((part) => part === undefined) ? undefined : fill.map((part, i) => parts[i] ?? part);
  }
  return typeof fill === "number" && !Number.isFinite(fill) ? String(fill) : undefined;
}
