import { ConsolidatedMetadata, refreshConsolidated } from "../../hierarchy/edit/consolidated.ts";
import { parentHierarchyOfNode } from "../../hierarchy/edit/parent.ts";
import type { ZarrNode } from "../../hierarchy/node.ts";
import { openNode } from "../../hierarchy/open/open-node.ts";
import { keysBelow, walk } from "../../hierarchy/open/walk.ts";
import { lockPlace } from "../../hierarchy/parent-hierarchy.ts";
import { readDocument } from "../../hierarchy/stored-documents.ts";
import { isJsonObject, member } from "../../meta/assert-json.ts";
import { FILL_VALUE_ATTRIBUTE, writeMissing } from "../../meta/conventions/missing-values.ts";
import { BARE_NON_FINITE } from "../../meta/documents.ts";
import { formatNamed } from "../../meta/formats.ts";
import { FLOAT64, numberBytes } from "../../meta/number-kinds.ts";
import type { StoreAccess } from "../../stores/access.ts";
import { isReservedKey } from "../../stores/reserved-names.ts";
import { isListable, type ListableStore, type Store, type WritableStore } from "../../stores/store.ts";
import { type StoreCall, wrapStore } from "../../stores/with/wrap-store.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { parseJson } from "../../util/json-parse.ts";
import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";
import { ancestorPaths, joinKey } from "../../util/node-path.ts";
import { clean } from "../clean.ts";
import type { FlowTarget } from "../target/flow-target.ts";
import { isFault, type ValidateFinding } from "./finding.ts";
import { OverlayStore, rewriteZip } from "./fix-zip.ts";
import { type ReadNodes, readNodes } from "./nodes.ts";
import { StoredKeys } from "./stored-keys.ts";

export interface FixOptions {
  /** Changes nothing. */
  readonly dryRun: boolean;
  readonly maxMemory: number;
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
}

/** Removes the leftovers that `clean` removes. */
export async function* fixLeftovers(
  target: FlowTarget,
  path: string,
  { dryRun, signal, ...access }: Pick<FixOptions, "dryRun" | "signal"> & StoreAccess,
): AsyncGenerator<Fix> {
  for await (const { kind, place, isRemoved } of clean(target, { ...access, dryRun, signal })) {
    if (!isRemoved) continue;
    const message = `${place} (${kind}), left by a killed run, ${done("was", "removed", dryRun)}`;
    if (kind === "lock") yield fixed("lock", path, message);
    else yield fixed(kind === "upload" ? "open-upload" : "leftover", path, message, { place });
  }
}

/** True if a zip cannot be rewritten, because entries that are not keys would be lost. */
export function isZipKept({ findings = [] }: Store): boolean {
  return findings.some(({ isDuplicate }) => !isDuplicate);
}

/**
 * Fixes a hierarchy in a zip, by rewriting the zip if anything needs to be fixed.
 *
 * @throws `source-changed`; what writing a zip throws.
 */
export async function fixZip(root: ZarrNode, zip: ListableStore, options: FixOptions): Promise<Fix[]> {
  const overlay = new OverlayStore(zip);
  if (isZipKept(zip)) return [];
  const duplicates = zip.findings ?? [];
  const fixes = await fixNodes(root, overlay, options);
  for (const { key } of duplicates) {
    const message = `the earlier of two zip entries of this name ${done("was", "dropped from the zip, which is rewritten", options.dryRun)}`;
    fixes.push(fixed("zip-entry", root.path, message, { key }));
  }
  const isChanged = overlay.changes.size > 0 || duplicates.length > 0;
  if (isChanged && !options.dryRun) await rewriteZip(zip, root.spec, overlay.changes, options);
  return fixes;
}

/**
 * Fixes a hierarchy in a store that is written in place, under a lock.
 *
 * @throws `unsupported-operation` for a read-only store; `locked`.
 */
export async function fixInPlace(opened: ZarrNode, options: FixOptions): Promise<Fix[]> {
  const { dryRun, signal } = options;
  const hierarchyAround = await parentHierarchyOfNode(opened);
  const above =
    opened.path === ""
      ? joinKey(hierarchyAround.path, "")
      : hierarchyAround.path.slice(0, -opened.path.length);
  const store = dryRun ? new OverlayStore(hierarchyAround.store) : hierarchyAround.store;
  const { spec } = hierarchyAround;
  const { zarrFormat } = opened.layout;
  const root =
    above === ""
      ? opened
      : await openNode(store, hierarchyAround.path, { ...opened.reading, spec, zarrFormat, signal });
  const lock = dryRun
    ? undefined
    : await lockPlace(hierarchyAround, { isArray: opened.kind === "array", signal });
  try {
    if (!root) return [];
    const fixes = isListable(hierarchyAround.store)
      ? await fixNodes(root, store as ListableStore & WritableStore, options)
      : await all(fixConsolidated(root, store, options));
    return fixes.map((fix) => ownNames(fix, above));
  } finally {
    await lock?.release();
  }
}

/** Converts the paths of a fix to those of the opened store, which may be inside the fixed one. */
function ownNames({ path, key, ...fix }: Fix, above: string): Fix {
  const own = (name: string) =>
    joinKey(name, "") === above ? "" : name.slice(name.startsWith(above) ? above.length : 0);
  return { ...fix, path: own(path), ...(key !== undefined && { key: own(key) }) };
}

async function fixNodes(
  root: ZarrNode,
  store: ListableStore & WritableStore,
  options: FixOptions,
): Promise<Fix[]> {
  const before = await readNodes(root, store, options);
  const fixes = await unlessFaulty(fixDocuments(root, store, before, options));
  const read = fixes.length > 0 ? await readNodes(root, store, options) : before;
  fixes.push(...(await unlessFaulty(fixOutsideChunks(root, store, read, options))));
  fixes.push(...(await unlessFaulty(fixConsolidated(root, store, options))));
  return fixes;
}

/** Collects fixes. Returns none if they need something stored that is broken, which a finding reports. */
async function unlessFaulty(fixes: AsyncGenerator<Fix>): Promise<Fix[]> {
  try {
    return await all(fixes);
  } catch (error) {
    if (isFault(error) && !isZarrflowError(error, "access-denied")) return [];
    throw error;
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Something that was fixed, or would be. */
export type Fix = ValidateFinding;

/** Position of a fix, besides its node. */
type Place = Pick<ValidateFinding, "key" | "count" | "pointer" | "place">;

export function fixed(what: ValidateFinding["what"], path: string, message: string, place: Place = {}): Fix {
  return { level: "info", what, path, message, ...place, isFix: true };
}

/** Verb phrase for an action that was taken, or would be: `were removed`, `would be removed`. */
export function done(were: "was" | "were", verb: string, dryRun: boolean): string {
  return `${dryRun ? "would be" : were} ${verb}`;
}

/** Rewrites consolidated metadata that differ from the documents of their nodes. */
export async function* fixConsolidated(
  root: ZarrNode,
  store: WritableStore,
  { dryRun, signal }: { readonly dryRun: boolean; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<Fix> {
  if (root.kind === "array") return;
  const { maxMetadata } = root.reading;
  const groups = [root.path];
  for await (const node of walk(root, { signal })) if (node.kind === "group") groups.push(node.path);
  const written = new Set<string>();
  const noting = wrapStore(store, async <T>({ operation, key }: StoreCall, call: () => Promise<T>) => {
    if (operation === "set" && !isReservedKey(key)) written.add(key);
    return call();
  });
  const consolidated = await ConsolidatedMetadata.find(noting, groups, { maxMetadata, signal });
  await consolidated.refresh([root.path], { maxMetadata, signal });
  const what = "outdated consolidated metadata";
  for (const key of written)
    yield fixed("stale-consolidated", root.path, `${what} ${done("were", "rewritten", dryRun)}`, { key });
}

/** Removes chunks outside the grids of arrays, according to the arrays' own documents. */
export async function* fixOutsideChunks(
  root: ZarrNode,
  store: ListableStore & WritableStore,
  read: ReadNodes,
  {
    dryRun,
    concurrency,
    signal,
  }: { readonly dryRun: boolean; readonly concurrency: number; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<Fix> {
  const keys = new StoredKeys(root, read);
  const removed = new Map<string, { readonly key: string; count: number }>();
  async function* outside() {
    for await (const { key } of keysBelow(store, root.layout, { onUnreadable: () => {}, signal })) {
      const array = keys.arrayOutside(key);
      if (array === undefined) continue;
      const known = removed.get(array.path);
      if (known) known.count++;
      else removed.set(array.path, { key, count: 1 });
      yield key;
    }
  }
  await forEachConcurrent(outside(), (key) => store.delete(key, { signal }), { concurrency, signal });
  for (const [path, { key, count }] of removed) {
    const what = count === 1 ? "a chunk outside the grid" : "chunks outside the grid";
    const message = `${what} ${done(count === 1 ? "was" : "were", "removed", dryRun)}`;
    yield fixed("outside-grid", path, message, { key, ...(count > 1 && { count }) });
  }
}

/** A document of an array, as it should be. */
interface FixedDocument {
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
    'set to "/", as in the chunk keys',
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
  const corrected: FixedDocument[] = [];
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
      const after = fixedDocument(bytes, zarrFormat, isNested);
      if (after === undefined) continue;
      documents.set(key, after.bytes);
      corrected.push({ path, key, ...after });
    }
  }
  if (corrected.length === 0) return;
  const paths = corrected.map(({ path }) => path);
  const groups = new Set(paths.flatMap((path) => ancestorPaths(path)));
  await refreshConsolidated(
    store,
    { groups: [...groups], nodes: paths },
    async () => {
      for (const { key, bytes } of corrected) await store.set(key, bytes);
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
  for (const { path, key, changes } of corrected) {
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
function fixedDocument(
  bytes: Uint8Array,
  zarrFormat: "v2" | "v3",
  isNested: boolean,
): Pick<FixedDocument, "bytes" | "changes"> | undefined {
  const document = parsed(bytes);
  if (!isJsonObject(document)) return undefined;
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
  if (kind !== "array" || !isVariable || !isJsonObject(attributes)) return undefined;
  const value = member(attributes, FILL_VALUE_ATTRIBUTE);
  const isBare = typeof value === "number" && !Number.isFinite(value);
  if (!isBare || !/^float(?:16|32|64)$/.test(String(dataType))) return undefined;
  return writeMissing(numberBytes(value, FLOAT64), FLOAT64.type);
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

const UNKNOWN = "Only the author of the data knows which is right.";
const LOST = "The values of the chunk are lost; write it again.";
const WANTED = "Somebody may need it.";
const ACTIVE = "It may belong to an active run; `zarrflow clean --break-lock` removes it.";

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
    "The array may have been deleted, or its document may be lost. Restore the document, or remove the chunks.",
  "unknown-key": "It may not belong to an array.",
  "zip-entry": "Entries that are not keys would be lost if the zip were rewritten.",
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

const NON_FINITE = "JSON has no NaN, and a string or null would have another meaning. Change the attribute.";
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
        notFixed:
          isZipKept && FIXED_IN_ZIPS.includes(finding.what) ? REASONS["zip-entry"] : reasonFor(finding),
      };
}

/** Findings that are fixed in zips by rewriting them. */
const FIXED_IN_ZIPS: readonly ValidateFinding["what"][] = ["metadata", "outside-grid", "stale-consolidated"];

function isOf(fix: Fix, { what, path, pointer, place }: ValidateFinding): boolean {
  if (LEFT.includes(what)) return fix.what === what && fix.place === place;
  const isSameKind = fix.what === what || pointer === MISSING_VALUE;
  return isSameKind && fix.path === path && fix.pointer === pointer;
}

function reasonFor({ what, message, pointer }: ValidateFinding): string {
  if (message !== BARE_NON_FINITE) return REASONS[what];
  return pointer === "/fill_value" ? FILL_VALUE : NON_FINITE;
}
