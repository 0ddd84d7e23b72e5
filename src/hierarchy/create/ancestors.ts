import type { GroupMetadata, ZarrFormat } from "../../meta/array-metadata.ts";
import { HIERARCHY_KEY, hierarchyFormat } from "../../meta/detect.ts";
import { formatNamed } from "../../meta/formats.ts";
import type { Store, StoreOptions, WritableStore } from "../../stores/store.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { ancestorPaths } from "../../util/node-path.ts";
import { openNode } from "../open/open-node.ts";
import { type ReadDocumentOptions, readDocument } from "../stored-documents.ts";

const GROUP: GroupMetadata = { kind: "group", attributes: {} };

/**
 * Returns the format of the hierarchy in the store, or of the nearest group above `path`; undefined without either.
 *
 * @throws `path-not-allowed` below an array.
 */
export async function formatAbove(
  store: Store,
  path: string,
  options: ReadDocumentOptions,
): Promise<ZarrFormat | undefined> {
  const document = (await readDocument(store, HIERARCHY_KEY, options))?.bytes;
  const whole = document && hierarchyFormat(document);
  const nodes = await Promise.all(
    ancestorPaths(path).map((above) =>
      openNode(store, above, { ...options, ...(whole && { zarrFormat: whole }) }),
    ),
  );
  const array = nodes.find((node) => node?.kind === "array");
  if (array) {
    throw new ZarrflowError(
      "path-not-allowed",
      `nothing can be created below ${array.path || "the root"}, an array`,
      {
        store: store.description,
        path,
      },
    );
  }
  return whole ?? nodes.findLast((node) => node !== undefined)?.layout.zarrFormat;
}

/** Documents of the groups that contain `path`, nearest first; empty in a format without groups. */
export function ancestorDocuments(path: string, zarrFormat: ZarrFormat): Map<string, Uint8Array>[] {
  const { layout, write } = formatNamed(zarrFormat);
  if (layout(path).hierarchy.impliesGroups) return [];
  return ancestorPaths(path)
    .reverse()
    .map((above) => write(GROUP, layout(above), { allowLoss: ["/node_type"] }));
}

/** Writes the documents shared by all nodes of a hierarchy, unless they exist. */
export async function createShared(
  store: WritableStore,
  zarrFormat: ZarrFormat,
  options: StoreOptions,
): Promise<void> {
  for (const [key, bytes] of formatNamed(zarrFormat).writeShared?.() ?? []) {
    const isThere = !store.singleWriter && (await store.size(key, options)) !== undefined;
    if (!isThere) await store.set(key, bytes, options);
  }
}

/** Creates the missing groups above `path`. Returns the documents that were written, by key. */
export async function createAncestors(
  store: WritableStore,
  path: string,
  zarrFormat: ZarrFormat,
  options: StoreOptions,
): Promise<Map<string, Uint8Array>> {
  const written = new Map<string, Uint8Array>();
  for (const documents of ancestorDocuments(path, zarrFormat)) {
    const keys = [...documents.keys()];
    const sizes = await Promise.all(keys.map((key) => store.size(key, options)));
    if (sizes.some((size) => size !== undefined)) continue;
    for (const [key, bytes] of documents) {
      await store.set(key, bytes, options);
      written.set(key, bytes);
    }
  }
  return written;
}
