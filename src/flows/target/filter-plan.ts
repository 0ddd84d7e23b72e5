import type { ZarrNode } from "../../hierarchy/node.ts";
import type { ReadDocumentOptions } from "../../hierarchy/stored-documents.ts";
import type { ZarrFormat } from "../../meta/array-metadata.ts";
import {
  areOfImage,
  type DimensionConflict,
  type DimensionedArray,
  dimensionConflicts,
  dimensionsOf,
} from "../../meta/conventions/dimensions.ts";
import { formatNamed } from "../../meta/formats.ts";
import type { PlannedFilter } from "../../plan/key-filter.ts";
import type { NodeSpec, Plan, Publication } from "../../plan/plan.ts";
import { targetPath } from "../../plan/request.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { ancestorPaths } from "../../util/node-path.ts";
import { assertEditable, openExistingTarget } from "./flow-target.ts";

/** The nodes of a target that receives more, as a plan needs them. */
interface ExistingNodes {
  readonly how: NonNullable<Publication["existing"]>;
  /** True if the node at this path of the target stays unchanged. */
  isLeft(path: string): boolean;
  /**
   * True if the documents of the node at this path must not be written: they exist already, or are outside the
   * target.
   */
  isKept(path: string): boolean;
  readonly nodes: readonly ZarrNode[];
  /** Asserts that a node can be added at this path. @throws `target-exists`, `unsupported-operation` */
  assertAddable(path: string): void;
}

/**
 * Reads the nodes of a target for `ifExists: "skip"` and `"update"`; undefined if nothing is there.
 *
 * @throws `target-exists` if it has another format; `unsupported-operation` for an update of a store that cannot be
 * changed in place.
 */
export async function existingNodes(
  target: NodeSpec,
  zarrFormat: ZarrFormat,
  { ifExists, maxMetadata, signal }: ReadDocumentOptions & { readonly ifExists?: string | undefined },
): Promise<ExistingNodes | undefined> {
  if (ifExists !== "skip" && ifExists !== "update") return undefined;
  const existing = await openExistingTarget(target, zarrFormat, { maxMetadata, signal });
  if (existing === undefined) return undefined;
  const { store, nodes } = existing;
  await store.close?.();
  if (ifExists === "update") assertEditable(store);
  if (ifExists === "skip" && nodes.size === 0) return undefined;
  const isOutside = (path: string) => path !== target.path && ancestorPaths(target.path).includes(path);
  return {
    how: ifExists,
    nodes: [...nodes.values()],
    isLeft: (path) => ifExists === "skip" && nodes.has(path),
    isKept: (path) => nodes.has(path) && (ifExists === "skip" || isOutside(path)),
    assertAddable(path) {
      assertEditable(store);
      const array = ancestorPaths(path).find((above) => nodes.get(above)?.kind === "array");
      if (array === undefined || ifExists === "update") return;
      throw new ZarrflowError("target-exists", "the target has an array where the source has a group", {
        store: store.description,
        path: array,
        hint: "Replace the target, or choose another one.",
      });
    },
  };
}

/**
 * Asserts that a plan only copies keys, which an update compares one by one. @throws `invalid-option`,
 * `unsupported-operation`
 */
function assertVerbatim({ publication, jobs }: Plan): void {
  const isConverted = publication.from !== publication.zarrFormat;
  if (!isConverted && !publication.copyKeys) {
    throw new ZarrflowError("unsupported-operation", "an update needs a source that can list its keys", {
      hint: "Web servers cannot. Replace the target with --if-exists replace (in code ifExists), or copy from a store that can.",
    });
  }
  if (isConverted || jobs.some(({ tasks }) => tasks > 0)) {
    throw new ZarrflowError("invalid-option", "an update copies keys unchanged and cannot convert them", {
      hint: "Replace the target, or omit the options that change arrays.",
    });
  }
}

/** Restricts a plan to the nodes that the filter selects, and to those that an existing target lacks. */
export function filterPlan(
  plan: Plan,
  how: {
    readonly filter: PlannedFilter;
    /** Paths of source nodes that are not copied. */
    readonly leftOut: readonly string[];
    readonly existing: ExistingNodes | undefined;
    readonly ifExists: string | undefined;
    /** The nodes of the source. */
    readonly nodes: Iterable<Pick<ZarrNode, "path" | "metadata">>;
  },
): Plan {
  const { filter, leftOut, existing, ifExists, nodes } = how;
  if (existing && ifExists === "skip") {
    const added = plan.jobs.map((job) => ({
      path: job.targetPath,
      shape: job.target.shape,
      dimensionNames: job.dimensionNames,
    }));
    assertSameLengths(existing.nodes, added, { nodes, path: plan.source.path, target: plan.target.path });
  }
  if (ifExists === "update") assertVerbatim(plan);
  const { zarrFormat, documents } = plan.publication;
  const { nodeOf, sharedKeys } = formatNamed(zarrFormat).layout(plan.target.path).hierarchy;
  const isWritten = (key: string) =>
    !existing?.isKept(nodeOf(key) ?? "") && !(existing?.how === "skip" && sharedKeys.includes(key));
  const written = documents.filter(({ key }) => isWritten(key));
  for (const path of new Set(written.map(({ key }) => nodeOf(key) ?? ""))) existing?.assertAddable(path);
  return {
    ...plan,
    publication: {
      ...plan.publication,
      documents: written,
      ...(Object.keys(filter).length > 0 && { filter }),
      ...(leftOut.length > 0 && { leftOut }),
      ...(existing && { existing: existing.how }),
    },
  };
}

type Described = Pick<ZarrNode, "path" | "metadata">;

/** Dimensions that have different lengths in arrays of one group. Levels of images may differ. */
export function conflictsOf(
  nodes: Iterable<Described>,
  added: readonly DimensionedArray[] = [],
): DimensionConflict[] {
  const all = [...nodes];
  const images = new Set(
    all.flatMap(({ path, metadata }) =>
      metadata.kind === "group" && areOfImage(metadata.attributes) ? [path] : [],
    ),
  );
  const arrays = all.flatMap(({ path, metadata }) =>
    metadata.kind === "array" ? [dimensionsOf(path, metadata)] : [],
  );
  return dimensionConflicts([...arrays, ...added], (group) => images.has(group));
}

/**
 * Asserts that dimensions of the added arrays are as long as those of the same name in the target. Dimensions that
 * already differ in the source are allowed.
 *
 * @throws `differs` for a dimension that would have two lengths in one group
 */
export function assertSameLengths(
  existing: Iterable<Described>,
  added: readonly DimensionedArray[],
  source: { readonly nodes: Iterable<Described>; readonly path: string; readonly target: string },
): void {
  const names = new Set(added.map(({ path }) => path));
  const nameOf = (group: string, name: string) => JSON.stringify([group, name]);
  const own = conflictsOf(source.nodes).map(({ group, name }) =>
    nameOf(targetPath(group, source.path, source.target), name),
  );
  const conflict = conflictsOf(existing, added).find(
    ({ group, name, b }) => names.has(b.path) && !own.includes(nameOf(group, name)),
  );
  if (conflict === undefined) return;
  const { name, a, b } = conflict;
  throw new ZarrflowError(
    "differs",
    `the dimension ${JSON.stringify(name)} has a different length in the target than in the added arrays`,
    {
      path: b.path,
      expected: `${a.length} items, as in ${a.path}`,
      found: `${b.length} items`,
      hint: "Slice it to the same length first, replace the target, or choose another one.",
    },
  );
}
