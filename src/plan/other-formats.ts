import type { NodeMetadata } from "../meta/array-metadata.ts";
import { member } from "../meta/assert-json.ts";
import { consolidate } from "../meta/consolidated.ts";
import type { ConventionNode } from "../meta/conventions/convention.ts";
import { convertConventions } from "../meta/conventions/conventions.ts";
import { formatNamed } from "../meta/formats.ts";
import { isZarrflowError } from "../util/errors.ts";
import { type JsonObject, jsonEqual } from "../util/json-value.ts";
import { belowPath, folderOf } from "../util/node-path.ts";
import type { NodeWarning, Plan, PlannedDocument } from "./plan.ts";
import { type HierarchyPlanRequest, targetPath } from "./request.ts";

/**
 * Documents of other formats: a group that was migrated in place has documents of v2 and v3 for the same chunks. A
 * flow reads and writes one format. Documents of the other stay if nothing changes; otherwise they are left out, or
 * rewritten on request.
 */

const LEFT_OUT = "documents of another format are left out: they would not describe the new chunks";

/** Warning of a flow that leaves out documents of other formats. */
export const otherFormatsLeftOut: NodeWarning = {
  message: LEFT_OUT,
  hint: "Use --keep-formats (in code keepFormats) to write them again.",
};

/** The same warning for documents at `keys`; undefined if there are none or the plan contains the warning already. */
export function otherFormatsWarning(
  plan: Plan,
  keys: readonly string[],
): (NodeWarning & { readonly key: string }) | undefined {
  const [key] = keys;
  const hasWarned = plan.warnings.some(({ message }) => message === LEFT_OUT);
  return key === undefined || hasWarned ? undefined : { ...otherFormatsLeftOut, key };
}

/** A node of the target and its source. */
export interface PlacedNode {
  /** Path in the source, and in the target. */
  readonly from: string;
  readonly path: string;
  readonly metadata: NodeMetadata;
}

/**
 * Writes documents of another format for nodes of the target, by path in the target.
 *
 * @throws `loss-refused` for information that this format cannot represent.
 */
export function documentsOfOtherFormat(
  nodes: readonly PlacedNode[],
  { keptFormat, zarrFormat, source, target, nodes: sources, allowLoss }: HierarchyPlanRequest,
): ReadonlyMap<string, readonly PlannedDocument[]> {
  if (keptFormat === undefined) return new Map();
  const { write, layout } = formatNamed(keptFormat.name);
  const placed = nodes.filter(({ from }) => keptFormat.nodes.has(from));
  const inOther = (all: readonly (ConventionNode & { readonly root: string })[]) =>
    convertConventions(
      all.map(({ root, path, metadata }) => ({ path: belowPath(root, path), metadata })),
      { from: zarrFormat.name, to: keptFormat.name },
    ).nodes;
  const metadataOf = new Map(sources.map(({ path, metadata }) => [path, metadata]));
  const converted = inOther(placed.map((node) => ({ ...node, root: target.path })));
  const before = inOther(
    placed.map(({ from, metadata }) => {
      return { root: source.path, path: from, metadata: metadataOf.get(from) ?? metadata };
    }),
  );
  let documents = new Map<string, Uint8Array>();
  try {
    for (const [i, { from, path, metadata }] of placed.entries()) {
      const now = converted[i]?.metadata ?? metadata;
      const attributes = ownAttributes(
        keptFormat.nodes.get(from) ?? {},
        before[i]?.metadata.attributes ?? {},
        now.attributes,
      );
      const written = write({ ...now, attributes }, layout(path), { allowLoss });
      for (const [key, bytes] of written) documents.set(key, bytes);
    }
  } catch (error) {
    if (!isZarrflowError(error)) throw error;
    throw error.addContext({
      hint: "Omit --keep-formats (in code keepFormats) to leave out these documents.",
    });
  }
  const groups = [...keptFormat.consolidated].sort().reverse();
  for (const group of groups) {
    documents = consolidate(keptFormat.name, targetPath(group, source.path, target.path), documents);
  }
  const byPath = new Map<string, PlannedDocument[]>();
  for (const [key, bytes] of documents) {
    const path = folderOf(key);
    byPath.set(path, [...(byPath.get(path) ?? []), { key, text: new TextDecoder().decode(bytes) }]);
  }
  return byPath;
}

/**
 * Merges the attributes in a node's documents of another format with the changes of the flow. Attributes that the
 * flow does not change keep the value stated there.
 */
function ownAttributes(own: JsonObject, before: JsonObject, now: JsonObject): JsonObject {
  const isOwn = (name: string) => jsonEqual(member(before, name) ?? null, member(now, name) ?? null);
  return { ...now, ...Object.fromEntries(Object.entries(own).filter(([name]) => isOwn(name))) };
}
