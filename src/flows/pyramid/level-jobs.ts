import { withChunkSeparator } from "../../hierarchy/chunk-separator.ts";
import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { openNode } from "../../hierarchy/open/open-node.ts";
import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import { isJsonObject, member } from "../../meta/assert-json.ts";
import { OME, omeOf, SCENE } from "../../meta/conventions/ome/attributes.ts";
import { omeMembers, omeSeries, sourcesOutside } from "../../meta/conventions/ome/members.ts";
import type { NodeWarning } from "../../plan/plan.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { belowPath, joinKey, lastName } from "../../util/node-path.ts";
import { type Dataset, type DatasetArray, datasetAttributes, datasetOf, levelsOfArray } from "./dataset.ts";
import { axisNames, type Image, imageAttributes, imageOf, spatialAxes, versionOfPyramid } from "./image.ts";
import { followedLevels, type TargetTerms, targetTerms } from "./level-metadata.ts";
import { factorsOf, type LevelShape, levelShapes, type PyramidOptions } from "./pyramid-options.ts";
import {
  labelsBy,
  lacksNone,
  methodOfImage,
  type NumberAccess,
  numberAccessOf,
  type PyramidMethod,
} from "./reduce-blocks.ts";
import { coordinateMetadata, type LevelWindows, planLevelWindows } from "./write-levels.ts";

/** One array of the source, and what is made of it in the levels. */
export interface LevelJob extends DatasetArray {
  readonly levels: readonly LevelShape[];
  /** Metadata of the array in each level; fewer than levels if the others do not have it. */
  readonly metadata: readonly ArrayMetadata[];
  readonly numbers: NumberAccess | undefined;
  /** Absent for arrays that do not shrink, and for coordinates, which are read whole. */
  readonly windows?: LevelWindows;
}

export interface PyramidPlan {
  readonly zarrFormat: "v2" | "v3";
  /** Metadata convention that describes the levels. */
  readonly convention: "OME-Zarr 0.4" | "OME-Zarr 0.5" | "OME-Zarr 0.6" | "multiscales";
  /** Method of an image, or of those variables of a dataset that are not classes. */
  readonly method: PyramidMethod;
  /** Attributes of the pyramid's group. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Attributes of the group of each level; empty if levels are arrays. */
  readonly levelAttributes: readonly Readonly<Record<string, unknown>>[];
  /** Names of the dimensions that shrink. */
  readonly spatial: readonly string[];
  /** Their indices among the dimensions of `levels`. */
  readonly axes: readonly number[];
  readonly levels: readonly LevelShape[];
  readonly jobs: readonly LevelJob[];
  /** Nodes that describe the source, besides the arrays of the jobs. */
  readonly sources: readonly ZarrNode[];
  readonly warnings: readonly NodeWarning[];
}

type PlanOptions = Pick<PyramidOptions, "factor" | "method" | "axes" | "codec" | "to" | "signal"> &
  Required<Pick<PyramidOptions, "levels">> & { readonly maxMemory: number; readonly concurrency: number };

/**
 * Plans the pyramid of an image, or of a geographic dataset.
 *
 * @param place of the target, as given
 */
export async function planPyramid(root: ZarrNode, place: string, options: PlanOptions): Promise<PyramidPlan> {
  const { to = root.layout.zarrFormat } = options;
  if (to !== "v2" && to !== "v3") {
    throw new ZarrflowError("unsupported-operation", "pyramids can be written only as Zarr v2 or v3", {
      found: to,
      hint: "Set the format with --to v3 (in code to).",
    });
  }
  const image = await imageOf(root, options);
  if (image === undefined && root.kind === "group") return planDataset(root, to, options);
  if (image === undefined)
    throw new ZarrflowError("invalid-option", "there is no image", { path: root.path });
  return planImage(image, { root, place, to }, options);
}

async function planImage(
  image: Image,
  { root, place, to }: { readonly root: ZarrNode; readonly place: string; readonly to: "v2" | "v3" },
  options: PlanOptions,
): Promise<PyramidPlan> {
  const { factor, levels: wanted, signal } = options;
  const { group } = image;
  const version = versionOfPyramid(image, to);
  const array = await withChunkSeparator(image.array, { signal });
  const terms = targetTerms(group ? [group, array] : [array], to, options);
  const dimensions = axisNames(image);
  const spatial = spatialAxes(image);
  const { factors, unnamed } = factorsOf(factor, dimensions, spatial);
  const sizes = { chunkShape: innerShape(array), levels: wanted, path: array.path, unnamed };
  const levels = levelShapes(array.shape, factors, sizes);
  const labels = await labelsBy(root, group, signal);
  const chosen = methodOfImage(array, { asked: options.method, labels });
  const own = { name: "", array, dimensions, lacksNone: lacksNone(array, labels) };
  const described = { ...own, ...chosen, role: "variable" } as const;
  const job = await jobOf(described, levels, terms, options);
  const made = { ...job, metadata: job.metadata.map((metadata) => asLevel(metadata, to, dimensions)) };
  const from = group ? belowPath(group.path, array.path) : "";
  const asked = { attributes: group ? terms.rootAttributes : {}, areGroups: false };
  const followed = followedLevels([[made, from]], terms, asked);
  const { attributes } = followed;
  const words = { version, method: chosen.method, name: nameAt(place), attributes };
  return {
    zarrFormat: to,
    convention: `OME-Zarr ${version}`,
    method: chosen.method,
    attributes: imageAttributes(image, levels, words),
    levelAttributes: [],
    spatial,
    axes: spatial.map((axis) => dimensions.indexOf(axis)),
    levels,
    jobs: followed.jobs,
    sources: group ? [group] : [],
    warnings: [
      ...terms.warnings,
      ...followed.warnings,
      ...(await imageWarnings(image, { root, place }, signal)),
    ],
  };
}

/** Name of an unnamed image: the last part of its place. */
function nameAt(place: string): string {
  return (
    place
      .replace(/\/+$/, "")
      .replace(/^.*\//, "")
      .replace(/\.zarr(?:\.zip)?$/, "") || "image"
  );
}

async function imageWarnings(
  { group, count }: Image,
  { root, place }: { readonly root: ZarrNode; readonly place: string },
  signal: AbortSignal | undefined,
): Promise<NodeWarning[]> {
  if (group === undefined) return [];
  const others =
    count > 1 ? [{ path: "", message: `this is the first of ${count} images of the group` }] : [];
  const sources = /(?:^|\/)labels\/[^/]+\/*$/.test(place) ? [] : sourcesOutside([group], group.path);
  const labels = root === group ? await labelsOf(group, signal) : [];
  return [...others, ...sources, ...labels.map(notInPyramid)];
}

function notInPyramid(path: string): NodeWarning {
  return { path, message: "this is not part of the pyramid" };
}

/** The labels of an image, which are images themselves. */
async function labelsOf(root: ZarrGroup, signal: AbortSignal | undefined): Promise<string[]> {
  const { zarrFormat } = root.layout;
  const labels = await openNode(root.store, joinKey(root.path, "labels"), { zarrFormat, signal });
  return labels ? ["labels"] : [];
}

/** Adapts metadata to OME-Zarr: 0.5 requires dimension names on arrays, 0.4 nested keys. */
function asLevel(
  metadata: ArrayMetadata,
  zarrFormat: "v2" | "v3",
  dimensionNames: readonly string[],
): ArrayMetadata {
  if (zarrFormat === "v3") return { ...metadata, dimensionNames };
  return { ...metadata, chunkKeyEncoding: { ...metadata.chunkKeyEncoding, separator: "/" } };
}

async function planDataset(
  root: Extract<ZarrNode, { kind: "group" }>,
  to: "v2" | "v3",
  options: PlanOptions,
): Promise<PyramidPlan> {
  const { factor, method: asked, levels: wanted, signal } = options;
  await assertMayBeDataset(root, options);
  const labels = await labelsBy(root, undefined, signal);
  const dataset: Dataset = await datasetOf(root, { asked, labels, signal });
  const method = asked ?? (labels === undefined ? "mean" : "mode");
  const { spatial, shape, chunkShape, groupsLeft } = dataset;
  const { factors, unnamed } = factorsOf(factor, spatial, spatial);
  const levels = levelShapes(shape, factors, { chunkShape, levels: wanted, path: root.path, unnamed });
  const arrays: DatasetArray[] = [];
  for (const one of dataset.arrays)
    arrays.push({ ...one, array: await withChunkSeparator(one.array, { signal }) });
  const terms = targetTerms([root, ...arrays.map(({ array }) => array)], to, options);
  const jobs: LevelJob[] = [];
  for (const one of arrays) jobs.push(await jobOf(one, levelsOfArray(one, dataset, levels), terms, options));
  const attributes = terms.rootAttributes;
  const named = jobs.map((job) => [job, job.name] as const);
  const followed = followedLevels(named, terms, { attributes, areGroups: true });
  return {
    zarrFormat: to,
    convention: "multiscales",
    method,
    attributes: datasetAttributes(followed.attributes, dataset, { levels, method }),
    levelAttributes: followed.levelAttributes,
    spatial,
    axes: [...spatial.keys()],
    levels,
    jobs: followed.jobs,
    sources: [root],
    warnings: [...terms.warnings, ...followed.warnings, ...groupsLeft.map(notInPyramid)],
  };
}

async function jobOf(
  one: DatasetArray,
  levels: readonly LevelShape[],
  terms: TargetTerms,
  { maxMemory, concurrency }: PlanOptions,
): Promise<LevelJob> {
  const { array, method, role } = one;
  const stored = numberAccessOf(array.metadata, array.layout.zarrFormat);
  const numbers = stored && one.lacksNone ? { ...stored, missing: [] } : stored;
  if (method !== undefined && numbers === undefined) {
    throw new ZarrflowError(
      "unsupported-operation",
      `pyramids can be built only from numbers, not from ${array.dataType}`,
      {
        path: array.path,
        hint: "Copy the source without this array first: `zarrflow copy SRC DST --exclude NAME`.",
      },
    );
  }
  const metadata = terms.arrayMetadata(array);
  const kept = role === "corners" ? levels.slice(0, 1) : levels;
  const made = kept.map(({ shape }, i) => {
    const isSmall = i > 0 && (role === "coordinate" || role === "bounds");
    const own = isSmall ? terms.recode(coordinateMetadata(metadata, method ?? "mean"), array.path) : metadata;
    return levelMetadata(own, shape);
  });
  const job = { ...one, levels: kept, metadata: made, numbers };
  const isLarge = method !== undefined && role === "variable" && numbers !== undefined;
  if (!isLarge) return job;
  const { chunkShape } = metadata.chunkGrid;
  const budget = { chunkShape, itemSize: numbers.itemSize, maxMemory, concurrency };
  return { ...job, windows: await planLevelWindows(array, kept, budget) };
}

/** Metadata of an array for another shape. Chunks are no longer than the array, except in shards. */
function levelMetadata(metadata: ArrayMetadata, shape: readonly number[]): ArrayMetadata {
  const { chunkGrid } = metadata;
  if (chunkGrid.innerChunkShape) return { ...metadata, shape };
  const chunkShape = chunkGrid.chunkShape.map((n, d) => Math.max(1, Math.min(n, shape[d] ?? 1)));
  return { ...metadata, shape, chunkGrid: { chunkShape } };
}

function innerShape({ metadata: { chunkGrid } }: ZarrArray): readonly number[] {
  return chunkGrid.innerChunkShape ?? chunkGrid.chunkShape;
}

type Reading = Pick<PyramidOptions, "axes" | "signal">;

/**
 * Checks that a group without an image may be a geographic dataset.
 *
 * @throws `invalid-option` for a plate, a well, and other groups whose metadata name images below; for `axes`, because
 *   the arrays of a dataset name their own
 */
export async function assertMayBeDataset(group: ZarrGroup, { axes, signal }: Reading): Promise<void> {
  const kind = kindOf(group);
  if (kind !== undefined) {
    const image = await firstImage(group, signal);
    throw new ZarrflowError("invalid-option", `this is ${kind}`, {
      path: group.path,
      expected: "an image, or arrays with dimensions such as latitude and longitude, or y and x",
      hint: image === undefined ? "Name one of its images." : `Name one image, such as ${image}.`,
    });
  }
  if (axes === undefined) return;
  throw new ZarrflowError("invalid-option", "axes apply to arrays, and this is a group without an image", {
    path: group.path,
    hint: "Name one array, or omit --axes (in code axes): the arrays of a dataset name their dimensions.",
  });
}

/** Kind of an OME-Zarr group that is not an image itself, in words; undefined for other groups. */
function kindOf({ path, metadata: { attributes } }: ZarrGroup): string | undefined {
  const ome = omeOf(attributes);
  if (ome === undefined) return undefined;
  const has = (name: string, inside: string) => {
    const value = member(ome.metadata, name);
    return isJsonObject(value) && Array.isArray(member(value, inside));
  };
  const isOwn = isJsonObject(member(attributes, OME)) && ome.metadata !== attributes;
  if (has("plate", "wells")) return "a plate";
  if (has("well", "images")) return "a well of a plate";
  if (member(ome.metadata, "bioformats2raw.layout") !== undefined) return "a collection of images";
  if (isOwn && member(ome.metadata, SCENE) !== undefined) return "a scene of several images";
  const areLabels = Array.isArray(member(ome.metadata, "labels"));
  return areLabels && (isOwn || lastName(path) === "labels") ? "a list of labels" : undefined;
}

/** Path, below a group, of the first image that its metadata name, directly or through the groups that they name. */
async function firstImage(group: ZarrGroup, signal: AbortSignal | undefined): Promise<string | undefined> {
  const { store, spec, reading, layout } = group;
  const open = (path: string) =>
    openNode(store, joinKey(group.path, path), { ...reading, spec, zarrFormat: layout.zarrFormat, signal });
  const { paths = [], seriesIn } = omeMembers(group.metadata.attributes) ?? {};
  if (seriesIn !== undefined) return omeSeries(attributesOf(await open(seriesIn)))?.[0] ?? "0";
  const [first] = paths;
  const node = first === undefined ? undefined : await open(first);
  const [inner] = node?.kind === "group" && kindOf(node) ? (omeMembers(attributesOf(node))?.paths ?? []) : [];
  return first && inner ? `${first}/${inner}` : first;
}

function attributesOf(node: ZarrNode | undefined) {
  return node?.metadata.attributes ?? {};
}
