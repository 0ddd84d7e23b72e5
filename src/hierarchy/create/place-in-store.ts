import type { NodeMetadata } from "../../meta/array-metadata.ts";
import type { NodeLayout } from "../../meta/format.ts";
import type { Store, WritableStore } from "../../stores/store.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { ancestorPaths } from "../../util/node-path.ts";
import { refreshConsolidated } from "../edit/consolidated.ts";
import { deleteKeys } from "../edit/delete.ts";
import type { ReadDocumentOptions } from "../stored-documents.ts";
import { createAncestors, createShared, formatAbove } from "./ancestors.ts";
import { assertDistinctNames, assertEmpty, isTaken } from "./assertions.ts";
import { chooseFormat, layoutOf } from "./format.ts";
import { type NodeDraft, type OpenCreateTarget, type PlaceOptions, writeDocuments } from "./node-draft.ts";

/** Opens a path in a readable store for a new node: chunks are written to their final keys, and documents last. */
export async function placeInStore(
  store: WritableStore,
  path: string,
  options: PlaceOptions,
): Promise<OpenCreateTarget> {
  const { ifExists = "error", maxMetadata, signal } = options;
  const reading = { maxMetadata, signal };
  const zarrFormat = chooseFormat(options, path, await formatAbove(store, path, reading));
  const layout = layoutOf(path, zarrFormat, options);
  const findings = await assertDistinctNames(store, layout, signal);
  if (ifExists === "error" && (await isTaken(store, layout, options.kind, reading)))
    throw exists(store, path);
  const site: NodeDraft = {
    store,
    layout,
    findings,
    publish: (documents) =>
      refreshConsolidated(
        store,
        { groups: ancestorPaths(path), nodes: [path] },
        async () => {
          await createShared(store, zarrFormat, { signal });
          await writeDocuments(store, documents, signal);
          const ancestors = await createAncestors(store, path, zarrFormat, { signal });
          return { removed: path, written: new Map([...documents, ...ancestors]) };
        },
        reading,
      ),
    discard: (undo) => undo(),
  };
  return {
    layout,
    async begin(metadata) {
      if (ifExists === "replace") await clear(store, layout, metadata, reading);
      else if (options.mustBeEmpty) await assertEmpty(store, layout, signal);
      return site;
    },
  };
}

async function clear(
  store: WritableStore,
  layout: NodeLayout,
  metadata: NodeMetadata,
  reading: ReadDocumentOptions,
): Promise<void> {
  const { signal } = reading;
  const change = async () => {
    await deleteKeys(store, layout, metadata, { signal });
    return { removed: layout.path, written: new Map() };
  };
  const scope = { groups: ancestorPaths(layout.path), nodes: [layout.path] };
  await refreshConsolidated(store, scope, change, reading);
}

/** Error for a place that already has a node. */
export function exists(store: Store, path: string): ZarrflowError {
  return new ZarrflowError("target-exists", "a node exists already", {
    store: store.description,
    path,
    hint: 'Replace it, with ifExists: "replace", or choose another path.',
  });
}
