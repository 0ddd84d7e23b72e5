import { createHash } from "node:crypto";
import { open } from "../../src/hierarchy/open/open.ts";
import {
  digest,
  isZarrflowError,
  type Range,
  slice,
  validate,
  walk,
  type ZarrNode,
} from "../../src/index.ts";
import { describeDataType } from "../../src/meta/data-type-name.ts";
import { parseNumpyType } from "../../src/meta/v2/data-type.ts";
import { parseV3DataType } from "../../src/meta/v3/data-type.ts";
import type { JsonValue } from "../../src/util/json-value.ts";
import { attributesOf, equal, jsonValue, type Outcome } from "./compare.ts";

/** One line of the corpus manifest, as far as we use it. */
export interface CorpusCase {
  readonly id: string;
  readonly path: string;
  readonly store: string;
  readonly zarr_format: number;
  readonly array: string | null;
  readonly group?: string;
  readonly tags: readonly string[];
  readonly shape?: readonly number[];
  readonly chunks?: readonly number[];
  readonly dtype?: JsonValue;
  readonly attributes?: unknown;
  readonly dimension_names?: readonly (string | null)[];
  readonly sha256?: string;
  readonly values?: readonly unknown[];
  readonly values_encoding?: "base64";
  readonly also_accept_values?: readonly (readonly unknown[])[];
  readonly slice?: readonly (readonly [number, number])[];
  readonly slice_sha256?: string;
  readonly nodes?: readonly CorpusNode[];
  readonly error?: string;
  readonly error_category?: string;
  readonly error_stage?: string;
  readonly undefined_fill?: boolean;
}

interface CorpusNode {
  readonly path: string;
  readonly kind: "group" | "array";
  readonly attributes: unknown;
  readonly shape?: readonly number[];
  readonly sha256?: string;
}

const METADATA_CODES =
  "invalid-metadata unsupported-format unsupported-data-type unsupported-codec unsupported-extension not-found";
const CATEGORY_CODES: Readonly<Record<string, string>> = {
  data: "corrupt-chunk codec-error short-read unsupported-codec resource-limit",
  metadata: `${METADATA_CODES} corrupt-chunk resource-limit`,
  store: "corrupt-store not-found short-read corrupt-chunk unsupported-operation access-denied",
  security: "path-not-allowed unsupported-codec invalid-metadata corrupt-store not-found access-denied",
  resource: "resource-limit budget-too-small corrupt-chunk invalid-metadata codec-error",
};

export async function runCase(one: CorpusCase, corpus: string): Promise<Outcome> {
  const url = `${corpus}${one.path}`;
  try {
    if (one.error !== undefined) return await runErrorCase(one, corpus);
    if (one.nodes) return await compareNodes(one, url);
    return await compareArray(one, await openArrayCase(one, corpus));
  } catch (error) {
    if (!isZarrflowError(error)) return { wrong: `${error instanceof Error ? error.stack : error}` };
    return { gives: error.code, message: error.message };
  }
}

async function runErrorCase(one: CorpusCase, corpus: string): Promise<Outcome> {
  const url = `${corpus}${one.path}/${one.array ?? ""}`;
  const category = one.error_category ?? (one.tags.includes("security") ? "security" : "data");
  const codes = CATEGORY_CODES[category]?.split(" ") ?? [];
  try {
    await readAll(one, url);
  } catch (error) {
    if (!isZarrflowError(error)) return { wrong: `crashed: ${error instanceof Error ? error.stack : error}` };
    const namesKey = !/^bad\/v[23]\/meta-/.test(one.id) || error.details.key !== undefined;
    return codes.includes(error.code) && namesKey
      ? "right"
      : { wrong: `${error.code} for category ${one.error_category}: ${error.message}` };
  }
  return judgeAccepted(one, corpus);
}

/** What is read in spite of an error must be right, and `validate` must tell of it. */
async function judgeAccepted(one: CorpusCase, corpus: string): Promise<Outcome> {
  const mayBeRead = one.error_stage === "open-or-ok" || one.tags.includes("lenient-readers");
  if (!mayBeRead) return { gives: "read", message: one.error ?? "" };
  if (one.sha256 !== undefined || one.nodes) {
    const { error: _, ...good } = one;
    const outcome = await runCase(good, corpus);
    if (outcome !== "right") return outcome;
  }
  for await (const { level } of validate(`${corpus}${one.path}`, { deep: true }))
    if (level !== "info") return "right";
  return { gives: "read", message: one.error ?? "" };
}

/**
 * Opens a node as its case has it: a nested directory that does not state so needs to be told, and consolidated metadata
 * of v2 are what a store tells that cannot list.
 */
async function openCase(one: CorpusCase, url: string): Promise<ZarrNode> {
  if (one.store === "nested-directory") return open(url, { v2: { separator: "/" } });
  if (!OF_CONSOLIDATED.test(one.id)) return open(url);
  const { store } = await open(url);
  return open({ description: store.description, get: store.get.bind(store), size: store.size.bind(store) });
}

const OF_CONSOLIDATED = /^bad\/v2\/consolidated-|^v2\/hierarchy\/consolidated-stale\/hierarchy/;

async function readAll(one: CorpusCase, url: string): Promise<void> {
  const node = await openCase(one, url);
  if (one.error_stage === "open") {
    if (node.kind === "array") await node.pipeline();
    else for await (const _ of walk(node));
    return;
  }
  if (node.kind === "array") await slice(node).read();
  else for await (const _ of digest(node));
}

/** Opens the array that a case is about. */
export function openArrayCase(one: CorpusCase, corpus: string): Promise<ZarrNode> {
  const zarrFormat = one.path.includes("both-formats") ? `|zarr${one.zarr_format}:` : "";
  return openCase(one, `${corpus}${one.path}/${one.array ?? ""}${zarrFormat}`);
}

/** What an array is, beside what its case says. */
export async function compareArray(one: CorpusCase, array: ZarrNode): Promise<Outcome> {
  if (array.kind !== "array") return { wrong: "a group was opened" };
  if (one.shape && !equal(array.shape, one.shape)) return { wrong: `shape ${array.shape}` };
  const { chunkShape } = array.metadata.chunkGrid;
  const isSharded = one.tags.some((tag) => tag.startsWith("sharding"));
  if (
    one.chunks &&
    !isSharded &&
    !equal(
      chunkShape,
      one.chunks.map((n) => n || 1),
    )
  )
    return { wrong: `chunks ${chunkShape}` };
  const found = describeDataType(array.metadata.dataType);
  if (one.dtype && one.dtype !== "|O" && found !== typeNamed(one.dtype, one.zarr_format))
    return { wrong: `type ${found}` };
  if (one.dimension_names && !equal(array.dimensionNames, one.dimension_names))
    return { wrong: `dimension names ${array.dimensionNames}` };
  const attributes = attributesOf(array);
  if (one.attributes && !equal(attributes, one.attributes))
    return { wrong: `attributes ${JSON.stringify(attributes)}` };
  if (one.slice_sha256) {
    const hash = createHash("sha256");
    for await (const bytes of slice(array, one.slice as readonly Range[]).bytes()) hash.update(bytes);
    if (hash.digest("hex") !== one.slice_sha256) return { wrong: "the slice differs" };
  }
  if (one.sha256) {
    for await (const { sha256 } of digest(array))
      if (sha256 !== one.sha256) return { wrong: `sha256 ${sha256}` };
  }
  if (one.values && !one.undefined_fill) {
    const { data } = await slice(array).read();
    const values = [...data].map(jsonValue);
    const accepted = [one.values, ...(one.also_accept_values ?? [])];
    if (!accepted.some((list) => equal(values, list)))
      return { wrong: `values ${JSON.stringify(values).slice(0, 200)}` };
  }
  return "right";
}

function typeNamed(dtype: JsonValue, zarrFormat: number): string {
  const { dataType } = zarrFormat === 3 ? parseV3DataType(dtype, "") : parseNumpyType(dtype, "");
  return describeDataType(dataType);
}

async function compareNodes(one: CorpusCase, url: string): Promise<Outcome> {
  const root = await openCase(one, `${url}/${one.group ?? ""}`);
  const found = new Map<string, ZarrNode>([["", root]]);
  if (root.kind === "group") {
    for await (const node of walk(root))
      found.set(node.path.slice(root.path.length).replace(/^\//, ""), node);
  }
  for (const wanted of one.nodes ?? []) {
    const node = found.get(wanted.path);
    if (node?.kind !== wanted.kind) return { wrong: `${wanted.path} is ${node?.kind}` };
    if (!equal(attributesOf(node), wanted.attributes)) {
      return { wrong: `attributes of ${wanted.path}: ${JSON.stringify(attributesOf(node))}` };
    }
    if (node.kind === "array" && wanted.sha256) {
      for await (const { sha256 } of digest(node))
        if (sha256 !== wanted.sha256) return { wrong: `sha256 of ${wanted.path}` };
    }
    found.delete(wanted.path);
  }
  return found.size === 0 ? "right" : { wrong: `more nodes: ${[...found.keys()].join(", ")}` };
}
