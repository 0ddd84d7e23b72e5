import { dialectNamed } from "../meta/dialects.ts";
import { isListable, type ListableStore } from "../stores/store.ts";
import { ZarrflowError } from "../util/errors.ts";
import { ZarrGroup, type ZarrNode } from "./node.ts";
import { openNode } from "./open-node.ts";

export interface WalkOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * All nodes below a group, parents before their children, siblings sorted. A path without documents of its own
 * below which a node lies is an implied group: it comes with no documents and a finding.
 *
 * @throws `unsupported-operation` when the store cannot list.
 * @see V2-75, V2-76, V3-4
 */
export async function* walk(group: ZarrGroup, { signal }: WalkOptions = {}): AsyncGenerator<ZarrNode> {
  const { store, spec } = group;
  if (!isListable(store)) {
    throw new ZarrflowError("unsupported-operation", "this store cannot list the members of a group", {
      store: store.description,
      path: group.path,
      hint: "name an array inside it",
    });
  }
  for (const path of await childPaths(store, group.path, signal)) {
    const node = await openNode(store, path, { spec, signal });
    if (node) yield node;
    if (node?.kind === "array") continue;
    if (node) {
      yield* walk(node, { signal });
      continue;
    }
    const implied = new ZarrGroup({
      store,
      spec,
      layout: dialectNamed(group.layout.dialect).layout(path),
      metadata: { kind: "group", attributes: {} },
      findings: [{ message: "no document here: a group only because nodes lie below it" }],
    });
    let seen = false;
    for await (const below of walk(implied, { signal })) {
      if (!seen) yield implied;
      seen = true;
      yield below;
    }
  }
}

async function childPaths(
  store: ListableStore,
  path: string,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const paths: string[] = [];
  for await (const entry of store.listDirectory(path === "" ? "" : `${path}/`, { signal })) {
    if ("prefix" in entry) paths.push(entry.prefix.slice(0, -1));
  }
  return paths;
}
