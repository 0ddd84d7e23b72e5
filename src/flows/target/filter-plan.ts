import type { ZarrNode } from "../../hierarchy/node.ts";
import type { ReadDocumentOptions } from "../../hierarchy/stored-documents.ts";
import type { ZarrFormat } from "../../meta/array-metadata.ts";
import { formatNamed } from "../../meta/formats.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { ancestorPaths } from "../../util/node-path.ts";
import type { NodeSpec, Plan, Publication } from "../plan/plan.ts";
import type { PlannedFilter } from "../request/key-filter.ts";
import { assertSameLengths } from "./dimension-lengths.ts";
import { assertEditable, openExistingTarget } from "./existing-target.ts";

/** What a plan is to know of a target that is there, and added to. */
interface ExistingNodes {
  readonly how: NonNullable<Publication["existing"]>;
  /** Whether the node at a path of the target is left as it is. */
  isLeft(path: string): boolean;
  /** Whether documents of the node at a path must not be written, as they are there or another's. */
  isKept(path: string): boolean;
  /** The nodes that are there. */
  readonly nodes: readonly ZarrNode[];
  /** Holds that a node that is not left can be added. @throws `target-exists`, `unsupported-operation` */
  assertAddable(path: string): void;
}

/**
 * What is at a target that is added to, where that is asked for and something is there.
 *
 * @throws `target-exists` where it is of another format; `unsupported-operation` for an update of what cannot be changed.
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

/** @throws `invalid-option`, `unsupported-operation` for what cannot be compared key by key with its target. */
function assertVerbatim({ publication, jobs }: Plan): void {
  const isConverted = publication.from !== publication.zarrFormat;
  if (!isConverted && !publication.copyKeys) {
    throw new ZarrflowError("unsupported-operation", "an update needs a source that can list its keys", {
      hint: "Web servers cannot. Replace the target, with --if-exists replace (in code ifExists), or copy from a store that can.",
    });
  }
  if (isConverted || jobs.some(({ tasks }) => tasks > 0)) {
    throw new ZarrflowError("invalid-option", "an update copies keys as they are and cannot change them", {
      hint: "Replace the target, or omit the options that change arrays.",
    });
  }
}

/** A plan that leaves a part of the source, and which adds to what is there. */
export function filterPlan(
  plan: Plan,
  how: {
    readonly filter: PlannedFilter;
    /** Paths of source nodes that stay behind. */
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
