import { createHash } from "node:crypto";
import { open } from "../../src/hierarchy/open.ts";
import { digest, isZarrflowError, type Range, slice, walk, type ZarrNode } from "../../src/index.ts";

/** One line of the corpus manifest, as far as we use it. */
export interface CorpusCase {
  readonly id: string;
  readonly path: string;
  readonly zarr_format: number;
  readonly array: string | null;
  readonly group?: string;
  readonly tags: readonly string[];
  readonly shape?: readonly number[];
  readonly dtype?: unknown;
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

/** `right`, `refused` in words with an `unsupported-*` code, or what is wrong. */
export type Outcome = "right" | { readonly refused: string } | { readonly wrong: string };

const CATEGORY_CODES: Readonly<Record<string, readonly string[]>> = {
  data: ["corrupt-chunk", "codec-error", "short-read", "unsupported-codec", "resource-limit"],
  metadata: [
    "invalid-metadata",
    "unsupported-format",
    "unsupported-data-type",
    "unsupported-codec",
    "unsupported-extension",
    "not-found",
    "corrupt-chunk",
    "resource-limit",
  ],
  store: [
    "corrupt-store",
    "not-found",
    "short-read",
    "corrupt-chunk",
    "unsupported-operation",
    "access-denied",
  ],
  security: [
    "path-not-allowed",
    "unsupported-codec",
    "invalid-metadata",
    "corrupt-store",
    "not-found",
    "access-denied",
  ],
  resource: ["resource-limit", "budget-too-small", "corrupt-chunk", "invalid-metadata", "codec-error"],
};

export async function runCase(one: CorpusCase, corpus: string): Promise<Outcome> {
  const url = `${corpus}${one.path}`;
  try {
    if (one.error !== undefined) return await runErrorCase(one, url);
    if (one.nodes) return await compareNodes(one, url);
    const dialect = one.path.includes("both-formats") ? `|zarr${one.zarr_format}:` : "";
    return await compareArray(one, `${url}/${one.array ?? ""}${dialect}`);
  } catch (error) {
    if (!isZarrflowError(error)) return { wrong: `${error instanceof Error ? error.stack : error}` };
    return error.code.startsWith("unsupported-")
      ? { refused: error.message }
      : { wrong: `${error.code}: ${error.message}` };
  }
}

async function runErrorCase(one: CorpusCase, url: string): Promise<Outcome> {
  const codes =
    CATEGORY_CODES[one.error_category ?? (one.tags.includes("security") ? "security" : "data")] ?? [];
  try {
    await readAll(one, `${url}/${one.array ?? ""}`);
  } catch (error) {
    if (!isZarrflowError(error)) return { wrong: `crashed: ${error instanceof Error ? error.stack : error}` };
    if (error.code === "unsupported-codec" && !codes.includes(error.code)) return { refused: error.message };
    return codes.includes(error.code)
      ? "right"
      : { wrong: `${error.code} for category ${one.error_category}: ${error.message}` };
  }
  if (one.error_stage === "open-or-ok" || one.tags.includes("lenient-readers")) return "right";
  return { wrong: `no error where there should be: ${one.error}` };
}

async function readAll(one: CorpusCase, url: string): Promise<void> {
  const node = await open(url);
  if (one.error_stage === "open") {
    if (node.kind === "array") await node.pipeline();
    else for await (const _ of walk(node));
    return;
  }
  if (node.kind === "array") await slice(node).read();
  else for await (const _ of digest(node));
}

async function compareArray(one: CorpusCase, url: string): Promise<Outcome> {
  const array = await open(url);
  if (array.kind !== "array") return { wrong: "a group was opened" };
  if (one.shape && !equal(array.shape, one.shape)) return { wrong: `shape ${array.shape}` };
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

async function compareNodes(one: CorpusCase, url: string): Promise<Outcome> {
  const root = await open(`${url}/${one.group ?? ""}`);
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

/** As the reference library shows them: dimension names that lie among the attributes stay there. */
function attributesOf(node: ZarrNode): unknown {
  const names = node.kind === "array" && node.layout.dialect !== "v3" ? node.dimensionNames : undefined;
  return names ? { ...node.attributes, _ARRAY_DIMENSIONS: names } : node.attributes;
}

function jsonValue(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
}

function equal(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item) => {
    if (typeof item === "bigint") return Number(item);
    if (typeof item === "number" && !Number.isFinite(item)) return String(item);
    if (item && typeof item === "object" && !Array.isArray(item)) {
      return Object.fromEntries(Object.entries(item).sort(([x], [y]) => (x < y ? -1 : 1)));
    }
    return item;
  });
}
