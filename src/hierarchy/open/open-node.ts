import type { ZarrFormat } from "../../meta/array-metadata.ts";
import {
  detectFormat,
  detectionKeys,
  formatOnUse,
  HIERARCHY_KEY,
  hierarchyFormat,
} from "../../meta/detect.ts";
import type { Documents, Finding, FormatDefinition, NodeLayout } from "../../meta/format.ts";
import type { FormatOptions } from "../../meta/formats.ts";
import { isPageInPlace } from "../../stores/http/http-response.ts";
import { isNamedAttributes } from "../../stores/key.ts";
import { isListable, type Store, type StoreSpec } from "../../stores/store.ts";
import { parentSpec } from "../../stores/store-spec.ts";
import { openStore } from "../../stores/url.ts";
import type { BlockingIo } from "../../util/blocking-io.ts";
import { type ErrorCode, isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { joinKey } from "../../util/node-path.ts";
import { ZarrArray, ZarrGroup, type ZarrNode } from "../node.ts";
import {
  readDocument,
  readDocumentSync,
  type StoredDocument,
  type StoredDocuments,
} from "../stored-documents.ts";

export type NodeKind = "array" | "group";

export interface OpenNodeOptions extends NodeOptions {
  /** True if the documents shared by the whole hierarchy were already read, with a node above. */
  readonly isInside?: boolean;
  /** Requests the document of a group only after finding no document of an array. */
  readonly isSparing?: boolean;
  /**
   * Expected kind of the node, whose v2 documents are requested first; by default both kinds are requested together.
   */
  readonly kind?: NodeKind | undefined;
  /** Also looks for documents of other formats. By default true if the store answers synchronously. */
  readonly looksBeside?: boolean | undefined;
  /**
   * Set when many nodes are opened: documents are read with blocking calls as long as the storage responds immediately.
   */
  readonly blocking?: BlockingIo | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens the node at `path` of a store by its own documents, in any format; undefined if it does not exist.
 *
 * @throws `invalid-metadata`, `unsupported-*`, with store, path, key and pointer.
 */
export async function openNode<S extends Store>(
  store: S,
  path: string,
  {
    signal,
    isInside = false,
    isSparing = false,
    kind,
    looksBeside = store.getSync !== undefined,
    blocking,
    ...options
  }: OpenNodeOptions = {},
): Promise<ZarrNode<S> | undefined> {
  const documents = new Map<string, Uint8Array>();
  const stored = new Map<string, StoredDocument>();
  const asked = new Set<string>();
  const refusals = new Map<string, unknown>();
  const findings: Finding[] = [];
  const reading = { maxMetadata: options.maxMetadata, signal };
  const load = async (keys: readonly string[]) => {
    const others = keys.filter((key) => !asked.has(key));
    const readSync = (key: string) => readDocumentSync(store, key, options.maxMetadata);
    const reads = others.map((key) => {
      const found = blocking?.attempt(readSync, key, bytesRead);
      return found ? found.document : readDocument(store, key, reading);
    });
    const results = await Promise.allSettled(reads);
    others.forEach((key, i) => {
      asked.add(key);
      const result = results[i];
      if (result?.status === "rejected") {
        // of several failures, the one of the first key is thrown
        if (!isZarrflowError(result.reason, "access-denied")) throw result.reason;
        refusals.set(key, result.reason);
      } else if (result?.value) {
        documents.set(key, result.value.bytes);
        stored.set(key, result.value);
      }
    });
  };
  const isFound = () => [...documents.keys()].some((key) => !isNamedAttributes(key));
  const assertNoRefusal = (counts: (key: string) => boolean) => {
    for (const [key, reason] of refusals) if (counts(key)) throw reason;
  };
  const rounds = options.zarrFormat ? [] : roundsOf(path, { kind, looksBeside });
  for (const keys of rounds) {
    if (keys !== rounds[0]) formatOnUse("v2").catch(() => {}); // the format loads at the same time as the documents
    await load(keys);
    if ([...documents].some(([key, bytes]) => !isNamedAttributes(key) && !beginsAsMarkup(bytes))) break;
  }
  for (const key of pagesAmong(documents)) {
    documents.delete(key);
    stored.delete(key);
    findings.push(pageFinding(key));
  }
  if (!isFound()) assertNoRefusal(() => true);
  const found = options.zarrFormat
    ? { zarrFormat: options.zarrFormat }
    : await findFormat(path, documents, load);
  if (!found) return undefined;
  const format = await formatOnUse(found.zarrFormat, options);
  const layout = format.layout(path);
  const { sharedKeys, impliesGroups } = layout.hierarchy;
  const { documentKeys, attributesKey, groupKey } = layout;
  const isKnown = documentKeys.some((key) => key !== attributesKey && documents.has(key));
  const isSpared = (key: string) =>
    isKnown && !looksBeside ? key !== attributesKey : isSparing && key === groupKey;
  await load([...(isInside ? [] : sharedKeys), ...documentKeys.filter((key) => !isSpared(key))]);
  if (!documentKeys.some((key) => key !== attributesKey && documents.has(key))) await load(documentKeys);
  // Documents that only other nodes have may be denied: some servers respond like that for missing keys.
  const isOfNode = (key: string) => sharedKeys.includes(key) || key === attributesKey;
  const isPage = (key: string) => isPageInPlace(refusals.get(key));
  assertNoRefusal((key) => !isFound() || (isOfNode(key) && !isPage(key)));
  findings.push(...[...refusals.keys()].filter((key) => isOfNode(key) && isPage(key)).map(pageFinding));
  const missing = isInside ? undefined : sharedKeys.find((key) => !documents.has(key));
  if (missing !== undefined) {
    if (layout.documentKeys.some((key) => documents.has(key))) throw noSharedDocument(store, layout, missing);
    return undefined;
  }
  const isNodeKey = (key: string) => documentKeys.includes(key) || sharedKeys.includes(key);
  const own = new Map([...stored].filter(([key]) => isNodeKey(key)));
  const noticed = [...("findings" in found ? found.findings : []), ...findings];
  const node = nodeOf(format, documents, store, path, {
    ...options,
    ...found,
    findings: noticed,
    stored: own,
  });
  if (node || !impliesGroups || !(await isImplied(store, layout, signal))) return node;
  const { spec = unopenedSpec(store) } = options;
  return new ZarrGroup({ store, spec, layout, metadata: { kind: "group", attributes: {} } });
}

/**
 * Groups the keys of documents into rounds of requests. Either all formats are tried at once, or one after another,
 * newest first, until one is found, which avoids requests for missing documents.
 */
function roundsOf(
  path: string,
  { kind, looksBeside }: Pick<OpenNodeOptions, "kind" | "looksBeside">,
): string[][] {
  const attributes = joinKey(path, ".zattrs");
  const [ofV3 = "", ofArray = "", ofGroup = "", ofV1 = ""] = detectionKeys(path);
  if (looksBeside) return [[ofV3, ofArray, ofGroup, ofV1, attributes]];
  if (kind === undefined) return [[ofV3], [ofArray, ofGroup, attributes], [ofV1]];
  const [first, second] = kind === "group" ? [ofGroup, ofArray] : [ofArray, ofGroup];
  return [[ofV3], [first, attributes], [second], [ofV1]];
}

/**
 * Keys of documents that are HTML pages; none if all documents are. Some servers return such a page for every missing
 * key.
 */
function pagesAmong(documents: Documents): string[] {
  const pages = [...documents].filter(([, bytes]) => beginsAsMarkup(bytes)).map(([key]) => key);
  return pages.length < documents.size ? pages : [];
}

/** True if the first byte is `<`, apart from white space and a byte order mark. No JSON starts with it. */
function beginsAsMarkup(bytes: Uint8Array): boolean {
  return bytes.find((byte) => ![9, 10, 13, 32, 0xef, 0xbb, 0xbf].includes(byte)) === 0x3c;
}

function pageFinding(key: string): Finding {
  return { message: `${key} is an HTML page, which counts as missing` };
}

function bytesRead({ document }: { readonly document: StoredDocument | undefined }): number {
  return document?.bytes.length ?? 0;
}

/**
 * Detects the format of a node from its own documents, or from the document of the hierarchy at the root of the store.
 */
async function findFormat(
  path: string,
  documents: Documents,
  load: (keys: readonly string[]) => Promise<void>,
): Promise<ReturnType<typeof detectFormat>> {
  const own = detectFormat(documents, path);
  const isRootOfItsOwn = path !== "" && own && (await hasSharedDocuments(own.zarrFormat));
  if (own && !isRootOfItsOwn) return own;
  await load([HIERARCHY_KEY]);
  const root = documents.get(HIERARCHY_KEY);
  const zarrFormat = root && hierarchyFormat(root);
  return zarrFormat && { zarrFormat, findings: [] };
}

async function hasSharedDocuments(zarrFormat: ZarrFormat): Promise<boolean> {
  const format = await formatOnUse(zarrFormat);
  return format.layout("").hierarchy.sharedKeys.length > 0;
}

/** True if a group needs no document: the root, or a folder with nodes below, if the store can list. */
async function isImplied(
  store: Store,
  { path, membersPrefix }: NodeLayout,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (path === "") return true;
  if (!isListable(store)) return false;
  for await (const _ of store.listDirectory(membersPrefix, { signal })) return true;
  return false;
}

function noSharedDocument(store: Store, { zarrFormat, path }: NodeLayout, key: string): ZarrflowError {
  return new ZarrflowError("not-found", "the document that all nodes of the hierarchy share is missing", {
    format: zarrFormat,
    store: store.description,
    path,
    key,
  });
}

/** Codes of errors for something that zarrflow does not know, which need not be wrong. */
const NOT_KNOWN: readonly ErrorCode[] = [
  "unsupported-format",
  "unsupported-encoding",
  "unsupported-data-type",
  "unsupported-codec",
  "unsupported-extension",
];

/** True if an error reports an unknown data type, codec, chunk grid or similar of a node. */
export function isNotKnown({ code }: { readonly code: ErrorCode }): boolean {
  return NOT_KNOWN.includes(code);
}

export interface NodeOptions extends FormatOptions {
  /** Specification by which another process opens the store. */
  readonly spec?: StoreSpec;
  /** Format to use if documents of several exist; by default the first in detection order. */
  readonly zarrFormat?: ZarrFormat;
}

export interface NodeInOptions extends NodeOptions {
  /** True if `documents` are from consolidated metadata and stored nowhere else. */
  readonly areConsolidated?: boolean;
  /** The stored documents that `documents` come from. */
  readonly stored?: StoredDocuments;
  /** Problems found while detecting the format. */
  readonly findings?: readonly Finding[];
}

/**
 * Creates the node of a format at `path` that `documents` describe; undefined if they describe no node.
 *
 * @throws as `openNode`
 */
export function nodeOf<S extends Store>(
  format: FormatDefinition,
  documents: Documents,
  store: S,
  path: string,
  {
    spec = unopenedSpec(store),
    zarrFormat: _,
    areConsolidated,
    stored,
    findings = [],
    ...reading
  }: NodeInOptions,
): ZarrNode<S> | undefined {
  try {
    const layout = format.layout(path);
    const parsed = format.parse(documents, layout, reading);
    if (!parsed) return undefined;
    const own = layout.documentKeys.flatMap((key) => {
      const bytes = documents.get(key);
      return bytes ? [[key, bytes] as const] : [];
    });
    const parts = {
      store,
      spec,
      layout,
      documents: new Map(own),
      reading,
      findings: [...findings, ...parsed.findings],
      ...(areConsolidated && { consolidated: documents }),
      ...(stored && { stored }),
    };
    return parsed.metadata.kind === "array"
      ? new ZarrArray({ ...parts, metadata: parsed.metadata })
      : new ZarrGroup({ ...parts, metadata: parsed.metadata });
  } catch (error) {
    if (isZarrflowError(error)) error.addContext({ store: store.description, path });
    throw error;
  }
}

export function unopenedSpec(store: Store): StoreSpec {
  return { kind: "object", description: store.description };
}

/** A folder of a store, and a node at or below it. */
export interface Ancestor {
  readonly store: Store;
  readonly spec: StoreSpec;
  /** Path of the folder. */
  readonly path: string;
  /** Path of the node. */
  readonly nodePath: string;
  /** True if it is above the root of the given store. */
  readonly isOutside?: boolean;
}

/** Iterates over the node's own folder, then the folders above it, including those above the root of the store. */
export async function* ancestorsOf(store: Store, spec: StoreSpec, path: string): AsyncGenerator<Ancestor> {
  const names = path === "" ? [] : path.split("/");
  for (let length = names.length; length >= 0; length--) {
    yield { store, spec, path: names.slice(0, length).join("/"), nodePath: path };
  }
  let nodePath = path;
  for (let around = parentSpec(spec); around; around = parentSpec(around.spec)) {
    nodePath = nodePath === "" ? around.name : joinKey(around.name, nodePath);
    yield { store: await openStore(around.spec), spec: around.spec, path: "", nodePath, isOutside: true };
  }
}

const SILENT = ["access-denied", "invalid-metadata", "unsupported-format", "path-not-allowed"] as const;

/** True for errors of a folder above a node that is inaccessible or broken, and so irrelevant to the node. */
export function isUnreadableAbove(error: unknown): boolean {
  return SILENT.some((code) => isZarrflowError(error, code));
}
