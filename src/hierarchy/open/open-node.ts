import type { ZarrFormat } from "../../meta/array-metadata.ts";
import { detectFormat, detectionKeys, HIERARCHY_KEY, hierarchyFormat } from "../../meta/detect.ts";
import type { Documents, Finding, NodeLayout } from "../../meta/format.ts";
import { formatOnUse } from "../../meta/format-on-use.ts";
import { joinKey } from "../../meta/join-key.ts";
import { isNamedAttributes } from "../../stores/document-names.ts";
import { isPageInPlace } from "../../stores/http/http-failure.ts";
import { isListable, type Store } from "../../stores/store.ts";
import type { BlockingIo } from "../../util/blocking-io.ts";
import { type ErrorCode, isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { ZarrGroup, type ZarrNode } from "../node.ts";
import { readDocument, readDocumentSync, type StoredDocument } from "../stored-documents.ts";
import { type NodeOptions, nodeOf, specOf } from "./node-of.ts";

export type NodeKind = "array" | "group";

export interface OpenNodeOptions extends NodeOptions {
  /** Whether documents that the hierarchy's nodes share were read already, with a node above. */
  readonly isInside?: boolean;
  /** Whether to ask for the document of a group only where there is none of an array. */
  readonly isSparing?: boolean;
  /** What a node is to be, so that its documents are asked for first in v2; both are where it may be either. */
  readonly kind?: NodeKind | undefined;
  /** Whether to notice documents of other formats too. They are, where storage answers at once. */
  readonly looksBeside?: boolean | undefined;
  /** Given where many nodes are opened: documents are read by calls that block, as long as storage answers at once. */
  readonly blocking?: BlockingIo | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The node at `path` of a store, whatever its format, by its own documents; undefined when there is none.
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
        // of several failures, the first key's is thrown
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
    if (keys !== rounds[0]) formatOnUse("v2").catch(() => {}); // it is loaded while the documents are
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
  // Documents that only other nodes have may be refused: so some servers answer for what is missing.
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
  const { spec = specOf(store) } = options;
  return new ZarrGroup({ store, spec, layout, metadata: { kind: "group", attributes: {} } });
}

/**
 * Keys to ask for at one time: all that show a format, or those of one after the other, the newest first, until one is
 * there. Then no server is asked for much that it does not have.
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

/** Documents that are pages of HTML, where others are none: some servers return one for every key that is missing. */
function pagesAmong(documents: Documents): string[] {
  const pages = [...documents].filter(([, bytes]) => beginsAsMarkup(bytes)).map(([key]) => key);
  return pages.length < documents.size ? pages : [];
}

/** Whether the first byte that is no white space, nor a byte order mark, is `<`, which begins no JSON. */
function beginsAsMarkup(bytes: Uint8Array): boolean {
  return bytes.find((byte) => ![9, 10, 13, 32, 0xef, 0xbb, 0xbf].includes(byte)) === 0x3c;
}

function pageFinding(key: string): Finding {
  return { message: `${key} is a page of HTML, which counts as missing` };
}

function bytesRead({ document }: { readonly document: StoredDocument | undefined }): number {
  return document?.bytes.length ?? 0;
}

/** The format of a node by its own documents, or by the one that the whole store has at its root. */
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

/** Whether a group needs no document: the root, and what nodes lie below, as far as the store can tell. */
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
  return new ZarrflowError("not-found", "the document shared by all nodes of the hierarchy is missing", {
    format: zarrFormat,
    store: store.description,
    path,
    key,
  });
}

/** Errors that say that something is not known here, and not that it is wrong. */
const NOT_KNOWN: readonly ErrorCode[] = [
  "unsupported-format",
  "unsupported-encoding",
  "unsupported-data-type",
  "unsupported-codec",
  "unsupported-extension",
];

/** Checks if an error says that a node has a data type, codec, chunk grid or the like that is not known here. */
export function isNotKnown({ code }: { readonly code: ErrorCode }): boolean {
  return NOT_KNOWN.includes(code);
}
