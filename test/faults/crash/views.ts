import { consolidatedOf } from "../../../src/hierarchy/consolidated.ts";
import type { ZarrNode } from "../../../src/hierarchy/node.ts";
import { nodeIn } from "../../../src/hierarchy/open/in-any-format.ts";
import { openNode } from "../../../src/hierarchy/open/open-node.ts";
import { slice } from "../../../src/index.ts";
import type { ListableStore, Store } from "../../../src/stores/store.ts";

/** Values of arrays by their paths, as one reader finds them. */
export type View = ReadonlyMap<string, string>;

/** What readers find who look at nodes' own documents, and what those find who look at consolidated metadata. */
export async function viewsOf(store: ListableStore & Store): Promise<Record<"own" | "consolidated", View>> {
  const own = new Map<string, string>();
  const consolidated = new Map<string, string>();
  const add = async (view: Map<string, string>, node: ZarrNode | undefined) => {
    if (node?.kind === "array") view.set(node.path, await valuesOf(node));
  };
  const folders = new Set<string>();
  for await (const { key } of store.list("")) {
    if (/(?:^|\/)(?:\.zarray|\.zmetadata|\.zgroup|zarr\.json)$/.test(key)) {
      folders.add(key.slice(0, Math.max(0, key.lastIndexOf("/"))));
    }
  }
  for (const path of folders) {
    await add(own, await openNode(store, path));
    for (const zarrFormat of ["v2", "v3"] as const) {
      const root = await groupAt(store, path, zarrFormat);
      const documents = root && (await consolidatedOf(root));
      for (const key of documents?.keys() ?? []) {
        const member = key.slice(0, Math.max(0, key.lastIndexOf("/")));
        if (documents && /(?:\.zarray|zarr\.json)$/.test(key)) {
          await add(consolidated, nodeIn(documents, store, member, { zarrFormat, areConsolidated: true }));
        }
      }
    }
  }
  return { own, consolidated };
}

/** A group, also one of v2 that has nothing but its consolidated metadata. */
async function groupAt(store: Store, path: string, zarrFormat: "v2" | "v3") {
  const key = path === "" ? ".zmetadata" : `${path}/.zmetadata`;
  const isToldAlone = zarrFormat === "v2" && (await store.size(key)) !== undefined;
  const node = isToldAlone
    ? nodeIn(new Map([[key.replace(".zmetadata", ".zgroup"), group]]), store, path, { zarrFormat })
    : await openNode(store, path, { zarrFormat });
  return node?.kind === "group" ? node : undefined;
}

const group = new TextEncoder().encode('{"zarr_format": 2}');

async function valuesOf(node: Extract<ZarrNode, { kind: "array" }>): Promise<string> {
  try {
    const { data } = await slice(node).read();
    return `${node.shape}: ${Array.from(data as Int16Array)} ${JSON.stringify(node.attributes)}`;
  } catch (error) {
    return `unreadable: ${error instanceof Error ? error.message : error}`;
  }
}
