import type { ZarrNode } from "../../hierarchy/node.ts";
import type { ArrayMetadata, NodeMetadata } from "../../meta/array-metadata.ts";
import type { ChangedNode } from "../../meta/conventions/convention.ts";
import { followConventions } from "../../meta/conventions/conventions.ts";
import { formatNamed } from "../../meta/formats.ts";
import { targetNode } from "../../plan/hierarchy-plan.ts";
import type { NodeWarning } from "../../plan/plan.ts";
import type { NodesInFormat } from "../../plan/request.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { joinKey } from "../../util/node-path.ts";
import { recodeTo } from "../request/changes.ts";
import { nodesInFormat } from "../request/wanted-nodes.ts";
import type { DatasetArray } from "./dataset.ts";
import { blockOffset, type LevelShape, type PyramidOptions } from "./pyramid-options.ts";

/** An array of the source, and its metadata in each level. */
interface ArrayInLevels extends DatasetArray {
  readonly levels: readonly LevelShape[];
  readonly metadata: readonly ArrayMetadata[];
}

/** Metadata of a pyramid that are correct for each level. */
export interface FollowedLevels<T> {
  /** Metadata of the arrays, in the order of the jobs. */
  readonly jobs: readonly T[];
  /** Attributes of the pyramid's group. */
  readonly attributes: NodeMetadata["attributes"];
  /** Attributes of the group of each level; empty if levels are arrays. */
  readonly levelAttributes: readonly NodeMetadata["attributes"][];
  readonly warnings: readonly NodeWarning[];
}

interface FollowOptions {
  /** Attributes of the root of the source, in the target's format. */
  readonly attributes: NodeMetadata["attributes"];
  /** True if levels are groups of arrays. */
  readonly areGroups: boolean;
}

/**
 * Adjusts the metadata of all levels to their grids, as conventions require.
 *
 * @param jobs with the path of each array below the source
 */
export function followedLevels<T extends ArrayInLevels>(
  jobs: readonly (readonly [job: T, path: string])[],
  terms: Pick<TargetTerms, "arrayMetadata">,
  { attributes, areGroups }: FollowOptions,
): FollowedLevels<T> {
  const root: NodeMetadata = { kind: "group", attributes };
  const from = { path: "", metadata: root };
  const count = Math.max(...jobs.map(([{ levels }]) => levels.length));
  const groups = areGroups ? Array.from({ length: count }, (_, i) => `${i}`) : [];
  const arrays = jobs.map(([job, path]) => {
    const before = { path, metadata: terms.arrayMetadata(job.array) };
    return job.metadata.map((metadata, i): ChangedNode & { metadata: ArrayMetadata } => ({
      path: areGroups ? joinKey(`${i}`, job.name) : `${i}`,
      metadata,
      from: before,
      ...placingOf(job, i),
    }));
  });
  const nodes: ChangedNode[] = [
    { path: "", metadata: root, from },
    ...groups.map((path) => ({ path, metadata: root, from })),
    ...arrays.flat(),
  ];
  // the list of an image's levels is replaced later
  const followed = followConventions(nodes, areGroups ? { members: "all" } : {});
  const now = new Map(followed.nodes.map(({ path, metadata }) => [path, metadata]));
  const attributesOf = (path: string) => now.get(path)?.attributes ?? attributes;
  return {
    jobs: jobs.map(([job], j) => ({
      ...job,
      metadata: job.metadata.map((metadata, i) => arrayAt(now, arrays[j]?.[i]?.path) ?? metadata),
    })),
    attributes: attributesOf(""),
    levelAttributes: groups.map(attributesOf),
    warnings: followed.notes.map(({ path, ...note }) => ({ ...note, ...(path !== "" && { path }) })),
  };
}

function placingOf({ levels, method }: ArrayInLevels, level: number): Pick<ChangedNode, "placing"> {
  const scale = levels[level]?.scale;
  if (method === undefined || scale === undefined) return {};
  return { placing: { start: scale.map((n) => blockOffset(n, method)), step: scale, method } };
}

function arrayAt(
  nodes: ReadonlyMap<string, NodeMetadata>,
  path: string | undefined,
): ArrayMetadata | undefined {
  const found = path === undefined ? undefined : nodes.get(path);
  return found?.kind === "array" ? found : undefined;
}

/** Translates the source's metadata to the format and compressor of a pyramid. */
export interface TargetTerms {
  /** The metadata of an array of the source. @throws `loss-refused` for what the format cannot represent */
  arrayMetadata(array: ZarrNode): ArrayMetadata;
  readonly rootAttributes: NodeMetadata["attributes"];
  readonly recode: (metadata: ArrayMetadata, path: string) => ArrayMetadata;
  readonly warnings: NodesInFormat["warnings"];
}

/** @param nodes the root of the source, and those of its arrays that the pyramid contains */
export function targetTerms(
  nodes: readonly [ZarrNode, ...ZarrNode[]],
  to: "v2" | "v3",
  { codec }: Pick<PyramidOptions, "codec">,
): TargetTerms {
  const [root] = nodes;
  const zarrFormat = formatNamed(to);
  const converted = nodesInFormat(nodes, to);
  const arrays = nodes.flatMap(({ path, metadata }) => (metadata.kind === "array" ? { path, metadata } : []));
  const recode = codec === undefined ? (metadata: ArrayMetadata) => metadata : recodeTo(codec, arrays);
  const change = (path: string, metadata: ArrayMetadata) =>
    codec === undefined ? undefined : { metadata: recode(metadata, path) };
  const inTerms = (node: ZarrNode) => targetNode(node, { converted, change, zarrFormat }).metadata;
  return {
    arrayMetadata(array) {
      const metadata = inTerms(array) as ArrayMetadata;
      try {
        zarrFormat.write(metadata, zarrFormat.layout(array.path));
      } catch (error) {
        throw withWayOut(error, to);
      }
      return metadata;
    },
    rootAttributes: inTerms(root).attributes,
    recode,
    warnings: converted.warnings,
  };
}

/** Adds a hint to the error for a refused loss: a pyramid cannot allow losses, but a conversion before it can. */
function withWayOut(error: unknown, to: "v2" | "v3"): unknown {
  if (!isZarrflowError(error, "loss-refused")) return error;
  const hint = `Convert the source first: \`zarrflow convert SRC DST --to ${to} --allow-loss ${error.details.pointers.join(",")}\`.`;
  return ZarrflowError.like({ ...error, details: { ...error.details, hint } });
}
