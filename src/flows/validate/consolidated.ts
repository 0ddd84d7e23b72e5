import { carriesConsolidated, consolidatedOf } from "../../hierarchy/consolidated.ts";
import type { ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { namesMembers } from "../../hierarchy/open/members.ts";
import { sameDocument } from "../../meta/consolidated.ts";
import type { Documents } from "../../meta/format.ts";
import { folderOf, joinKey } from "../../util/node-path.ts";
import { faultFinding, type ValidateFinding } from "./finding.ts";
import type { ReadNodes } from "./nodes.ts";

/** Checks the consolidated metadata of groups against the documents of their nodes. */
export async function* consolidatedFindings(
  root: ZarrNode,
  { nodes, broken }: ReadNodes,
  signal: AbortSignal | undefined,
): AsyncGenerator<ValidateFinding> {
  for (const node of nodes.values()) {
    if (node.kind === "array") continue;
    let consolidated: Documents | undefined;
    try {
      consolidated = await consolidatedOf(node, { signal });
    } catch (error) {
      yield faultFinding(error, "stale-consolidated", node.path);
      continue;
    }
    if (consolidated) yield* staleFindings(node, consolidated, { nodes, broken });
    else if (node === root && nodes.size > 1 && !root.layout.hierarchy.impliesGroups)
      yield notConsolidated(node);
  }
}

function notConsolidated(group: ZarrGroup): ValidateFinding {
  const { path } = group;
  const message = namesMembers(group)
    ? "no consolidated metadata: where keys cannot be listed, as over HTTP, only nodes that OME-Zarr metadata name can be found"
    : "no consolidated metadata: where keys cannot be listed, as over HTTP, no nodes can be found";
  return { level: "info", what: "no-consolidated", path, message };
}

function* staleFindings(
  { path, layout }: ZarrGroup,
  consolidated: Documents,
  { nodes, broken }: Pick<ReadNodes, "nodes" | "broken">,
): Generator<ValidateFinding> {
  const prefix = joinKey(path, "");
  const actual = new Map<string, Uint8Array>();
  for (const node of nodes.values()) {
    const isOwn = node.path === path;
    if (isOwn ? carriesConsolidated(layout) : !node.path.startsWith(prefix)) continue;
    for (const [key, bytes] of node.documents) actual.set(key, bytes);
  }
  const isBroken = (key: string) => broken.has(folderOf(key));
  const lacking = [...actual.keys()].filter((key) => !consolidated.has(key));
  const gone = [...consolidated.keys()].filter((key) => !actual.has(key) && !isBroken(key));
  const other = [...actual].filter(([key, bytes]) => {
    const copy = consolidated.get(key);
    return copy !== undefined && !sameDocument(copy, bytes);
  });
  yield* stale(path, lacking, "the consolidated metadata do not list it");
  yield* stale(path, gone, "the consolidated metadata list a document that does not exist");
  yield* stale(
    path,
    other.map(([key]) => key),
    "the consolidated metadata differ from the document",
  );
}

function* stale(
  path: string,
  [key, ...more]: readonly string[],
  message: string,
): Generator<ValidateFinding> {
  if (key === undefined) return;
  const count = more.length > 0 && { count: more.length + 1 };
  yield { level: "error", what: "stale-consolidated", path, message, key, ...count };
}
