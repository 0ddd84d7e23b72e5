import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ZarrArray, ZarrGroup, ZarrNode } from "../../src/hierarchy/node.ts";
import { create, digest, isZarrflowError, open, type Range, slice, walk } from "../../src/index.ts";
import { formatNamed } from "../../src/meta/formats.ts";
import { isListable } from "../../src/stores/store.ts";
import { openStore, parseStoreUrl } from "../../src/stores/url.ts";
import type { ZarrflowError } from "../../src/util/errors.ts";
import { attributesOf, equal, jsonValue, type Outcome } from "./compare.ts";

/** One entry of the manifest of formats that are no longer written. */
export interface LegacyCase {
  readonly id: string;
  readonly kind: "array" | "group";
  readonly path: string;
  readonly store: "directory" | "nested-directory" | "zip";
  readonly zarr_format: string;
  readonly array_path: string;
  readonly tags: readonly string[];
  readonly shape?: readonly number[];
  readonly attributes?: unknown;
  readonly dimension_names?: readonly (string | null)[];
  readonly sha256?: string;
  readonly values?: readonly unknown[];
  readonly selection?: readonly Range[];
  readonly keys?: readonly string[];
  readonly byte_exact?: readonly string[];
  readonly crs_expected?: { readonly source: string; readonly value: unknown };
  readonly children?: Readonly<Record<string, "array" | "group" | "group-implicit">>;
  readonly explicit?: boolean;
  readonly error?: LegacyError;
}

/** An error, when it must come, and what it must name. */
interface LegacyError {
  readonly code: string;
  readonly at: "open" | "read" | "create";
  readonly key?: string;
  readonly pointer?: string;
  readonly path?: string;
  readonly index?: number;
  readonly extension?: string;
  readonly codec?: string;
}

export async function runLegacyCase(one: LegacyCase, corpus: string): Promise<Outcome> {
  let stage: LegacyError["at"] = "open";
  try {
    if (one.error?.at === "create") {
      stage = "create";
      await createIn(join(corpus, one.path), one.error.path ?? "");
    } else {
      const node = await openLegacyCase(one, corpus);
      stage = "read";
      const wrong =
        node.kind === "array" ? await compareLegacyArray(one, node) : await compareGroup(one, node);
      if (wrong) return { wrong };
      await compareFiles(one, node, corpus);
    }
  } catch (error) {
    if (error instanceof Mismatch) return { wrong: error.message };
    if (!isZarrflowError(error)) return { wrong: `crashed: ${error instanceof Error ? error.stack : error}` };
    return judge(one.error, error, stage);
  }
  return one.error ? { wrong: `no ${one.error.code} where there should be` } : "right";
}

class Mismatch extends Error {}

function expectThat(holds: boolean, what: string): void {
  if (!holds) throw new Mismatch(what);
}

/** Opens the node that a case is about, with its codecs, as far as it goes without reading a chunk. */
export async function openLegacyCase(
  { path, array_path, store: kind }: LegacyCase,
  corpus: string,
): Promise<ZarrNode> {
  const store = await openStore(parseStoreUrl(join(corpus, path)).spec);
  const options = kind === "nested-directory" ? { v2: { separator: "/" } as const } : {};
  const node = await open({ store, path: array_path }, options);
  if (node.kind === "array") await node.pipeline();
  return node;
}

/** What an array is that its case has otherwise. */
export async function compareLegacyArray(one: LegacyCase, array: ZarrArray): Promise<string | undefined> {
  if (one.kind !== "array") return "an array was opened";
  if (one.shape && !equal(array.shape, one.shape)) return `shape ${array.shape}`;
  const attributes = attributesOf(array);
  if (one.attributes && !equal(attributes, withBareTokens(one.attributes)))
    return `attributes ${JSON.stringify(attributes)}`;
  if (one.dimension_names && !equal(array.dimensionNames, one.dimension_names))
    return `dimension names ${array.dimensionNames}`;
  if (one.crs_expected) {
    const { _CRS: crs } = array.attributes as { _CRS?: Record<string, unknown> };
    if (crs?.[one.crs_expected.source] !== one.crs_expected.value) return `crs ${JSON.stringify(crs)}`;
  }
  const found = await sha256Of(array, one.selection);
  if (one.sha256 && found !== one.sha256) return `sha256 ${found}`;
  if (one.values) {
    const { data } = await slice(array, one.selection ?? {}).read();
    const values = [...data].map(jsonValue);
    if (!equal(values, one.values)) return `values ${JSON.stringify(values).slice(0, 200)}`;
  }
  return undefined;
}

/** Puts the numbers that JSON has no words for in the place of what the manifest says of them. */
function withBareTokens(attributes: unknown): unknown {
  return JSON.parse(JSON.stringify(attributes).replaceAll(" (bare token)", ""));
}

/** Of the items, or of those that `selection` takes, in C order. */
async function sha256Of(array: ZarrArray, selection: readonly Range[] | undefined): Promise<string> {
  if (selection === undefined) {
    for await (const { sha256 } of digest(array)) return sha256;
  }
  const hash = createHash("sha256");
  for await (const bytes of slice(array, selection ?? {}).bytes()) hash.update(bytes);
  return hash.digest("hex");
}

async function compareGroup(one: LegacyCase, group: ZarrGroup): Promise<string | undefined> {
  if (one.kind !== "group") return "a group was opened";
  if (one.attributes && !equal(group.attributes, one.attributes))
    return `attributes ${JSON.stringify(group.attributes)}`;
  const isExplicit = hasDocument(group);
  if (one.explicit !== undefined && isExplicit !== one.explicit) return `explicit: ${isExplicit}`;
  const children: Record<string, string> = {};
  for await (const node of walk(group)) {
    const below = node.path.slice(group.path.length).replace(/^\//, "");
    if (!below.includes("/")) children[below] = hasDocument(node) ? node.kind : "group-implicit";
  }
  if (one.children && !equal(children, one.children)) return `children ${JSON.stringify(children)}`;
  return undefined;
}

function hasDocument({ documents, layout }: ZarrNode): boolean {
  return layout.documentKeys.some((key) => key !== layout.attributesKey && documents.has(key));
}

/** The store's keys; and documents that, written again, come out as they are. */
async function compareFiles(one: LegacyCase, node: ZarrNode, corpus: string): Promise<void> {
  const { store, layout, metadata } = node;
  if (one.keys) {
    const keys: string[] = [];
    if (isListable(store)) for await (const { key } of store.list("")) keys.push(key);
    expectThat(equal(keys.sort(), [...one.keys].sort()), `keys ${keys.join(", ")}`);
  }
  if (one.byte_exact && !PRINTED_OTHERWISE.test(one.id)) {
    const written = formatNamed(layout.zarrFormat).write(metadata, layout);
    for (const key of one.byte_exact) {
      const stored = readFileSync(join(corpus, one.path, key));
      expectThat(stored.equals(written.get(key) ?? Buffer.of()), `${key} is written otherwise`);
    }
  }
}

/** Documents in the words of a printed example, which writers do not use. @see V2-92 */
const PRINTED_OTHERWISE = /^ogc-delta-blosc/;

/** Creates the array at `path` in a copy of the store. */
async function createIn(store: string, path: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "zarrflow-legacy-"));
  try {
    cpSync(store, folder, { recursive: true });
    const writer = await create(join(folder, path), {
      zarrFormat: "v3-draft-2019",
      shape: [1],
      chunks: [1],
      dataType: "int32",
    });
    await writer.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function judge(wanted: LegacyError | undefined, error: ZarrflowError, stage: LegacyError["at"]): Outcome {
  const { code, message, details } = error;
  const said = `${code} at ${stage}, key ${details.key}, pointer ${details.pointer}: ${message}`;
  if (wanted === undefined) return { gives: code, message };
  const names = (part: string | undefined, text: string | undefined) => !part || (text ?? "").includes(part);
  // Nothing is known by one key where nothing is found: the message lists all.
  const isKey = code === "not-found" ? names(wanted.key, message) : names(wanted.key, details.key);
  const isRight =
    code === wanted.code &&
    stage === wanted.at &&
    isKey &&
    (wanted.pointer === undefined || details.pointer === wanted.pointer) &&
    names(wanted.path?.replace(/^\//, ""), details.path) &&
    (wanted.index === undefined || new RegExp(`\\b${wanted.index}\\b`).test(error.reason)) &&
    names(wanted.extension, `${message} ${details.value}`) &&
    names(wanted.codec, `${message} ${details.value}`);
  return isRight ? "right" : { wrong: said };
}
