import type { ZarrFormat } from "../../meta/array-metadata.ts";
import { detectFormat, HIERARCHY_KEY, hierarchyFormat } from "../../meta/detect.ts";
import { formatNamed } from "../../meta/formats.ts";
import { joinKey } from "../../meta/join-key.ts";
import { childSpec } from "../../stores/folder-spec.ts";
import { isListable, type Store, type StoreSpec } from "../../stores/store.ts";
import { openStore } from "../../stores/url.ts";
import { withFolder } from "../../stores/with/folder.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { consolidatedV2, consolidatedV3 } from "../consolidated.ts";
import type { ZarrNode } from "../node.ts";
import { readDocument } from "../stored-documents.ts";
import { type Ancestor, ancestorsOf } from "./ancestors-of.ts";
import { nodeIn } from "./node-in.ts";
import { type OpenNodeOptions, openNode } from "./open-node.ts";
import { suggestName } from "./suggest-name.ts";

/**
 * Opens the node at `path`, which has no documents of its own, by those above it: the consolidated metadata of a group,
 * or the document of a whole hierarchy that stores its nodes elsewhere. Undefined if neither exists.
 *
 * A folder above the root of the store that cannot be read ends the search.
 *
 * @throws `not-found` if such a hierarchy lacks the node; `invalid-metadata` for a broken document above.
 */
export async function openViaAncestor(
  store: Store,
  spec: StoreSpec,
  path: string,
  options: Omit<OpenNodeOptions, "spec"> = {},
): Promise<ZarrNode | undefined> {
  const { zarrFormat } = options;
  for await (const ancestor of ancestorsOf(store, spec, path)) {
    try {
      const node = await openFrom(ancestor, options);
      if (node && (zarrFormat === undefined || node.layout.zarrFormat === zarrFormat)) return node;
    } catch (error) {
      if (ancestor.isOutside && isZarrflowError(error, "access-denied")) return undefined;
      throw error;
    }
  }
  return undefined;
}

async function openFrom(
  ancestor: Ancestor,
  { zarrFormat: asked, signal, ...reading }: Omit<OpenNodeOptions, "spec">,
): Promise<ZarrNode | undefined> {
  const { store, spec, path, nodePath } = ancestor;
  const key = joinKey(path, HIERARCHY_KEY);
  const reads = { maxMetadata: reading.maxMetadata, signal };
  const found = await readDocument(store, key, reads);
  const document = found?.bytes;
  const zarrFormat = document && hierarchyFormat(document);
  if (zarrFormat)
    return asked && asked !== zarrFormat ? undefined : openInHierarchy(ancestor, zarrFormat, signal);
  const ofV3 = document && consolidatedV3(document, path, reads);
  const stored = new Map(found && ofV3 ? [[key, found]] : []);
  const consolidated = ofV3 ?? (await consolidatedV2(store, path, { stored, ...reads }));
  if (consolidated === undefined || detectFormat(consolidated, nodePath) === undefined) return undefined;
  return nodeIn(consolidated, store, nodePath, { ...reading, spec, areConsolidated: true, stored });
}

/** Opens a node of the hierarchy whose root is a folder. @throws `not-found` with the keys that were tried. */
async function openInHierarchy(
  ancestor: Ancestor,
  zarrFormat: ZarrFormat,
  signal: AbortSignal | undefined,
): Promise<ZarrNode> {
  const { store, spec } = await rootStore(ancestor);
  const path = ancestor.nodePath.slice(ancestor.path.length).replace(/^\//, "");
  const node = await openNode(store, path, { spec, zarrFormat, signal });
  if (node) return node;
  const { documentKeys, membersPrefix } = formatNamed(zarrFormat).layout(path);
  throw new ZarrflowError("not-found", "no array or group of the hierarchy found", {
    format: zarrFormat,
    store: store.description,
    path,
    found: `none of ${[...documentKeys, membersPrefix].join(", ")}`,
    hint: isListable(store)
      ? await suggestName(store, spec, path, { zarrFormat, signal })
      : "This store cannot list its keys, so groups without a document cannot be found.",
  });
}

/** Opens a folder as the root of a store. */
async function rootStore({ store, spec, path }: Ancestor): Promise<Pick<Ancestor, "store" | "spec">> {
  if (path === "") return { store, spec };
  const inner = childSpec(spec, path);
  if (inner) return { store: await openStore(inner), spec: inner };
  const folder = withFolder(store, path);
  return { store: folder, spec: { kind: "object", description: folder.description } };
}
