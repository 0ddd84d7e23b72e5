import type { NodeMetadata } from "../../meta/array-metadata.ts";
import { cutImages } from "../../meta/conventions/ome/cut-image.ts";
import { multiscalesOf } from "../../meta/conventions/ome/multiscales.ts";
import { type Placement, placementOf } from "../../meta/conventions/ome/placement.ts";
import { joinKey } from "../../meta/join-key.ts";
import type { Selection } from "../../streams/selection.ts";
import { ZarrflowError } from "../../util/errors.ts";

/** A node of the group that is sliced. */
export interface ImageNode {
  readonly path: string;
  readonly metadata: NodeMetadata;
}

/**
 * A level of an image, with the level that its ranges refer to: the first of the image, or of the image that it
 * labels.
 */
export interface ImageLevel {
  readonly path: string;
  /** Path of the level that ranges refer to. */
  readonly first: string;
  readonly axes: readonly AxisOfLevel[];
}

interface AxisOfLevel {
  readonly name: string;
  readonly length: number;
  /**
   * The same axis of the first level; undefined if it has none, or if this level has a single item for the whole
   * axis.
   */
  readonly first: { readonly dimension: number; readonly length: number } | undefined;
  /** Items of the first level per item of this level. */
  readonly ratio: number;
}

interface Image {
  readonly path: string;
  readonly axes: readonly string[];
  readonly levels: readonly {
    readonly path: string;
    readonly shape: readonly number[];
    readonly placement: Placement | undefined;
  }[];
}

/**
 * Finds the levels that are cut like another one, by path: all levels of an image after the first, and those of
 * labels.
 *
 * @throws `unsupported-operation` for unknown transformations.
 */
export function followingLevels(nodes: readonly ImageNode[]): ReadonlyMap<string, ImageLevel> {
  const images = imagesAmong(nodes);
  const following = new Map<string, ImageLevel>();
  for (const image of images.values()) {
    const shown = images.get(labelledBy(image.path) ?? image.path) ?? image;
    for (const level of image.levels) {
      const [first] = shown.levels;
      if (first === undefined || level.path === first.path || following.has(level.path)) continue;
      const axes = image.axes.map((name, d): AxisOfLevel => {
        const length = level.shape[d] ?? 0;
        const dimension = shown.axes.indexOf(name);
        const whole = first.shape[dimension];
        const stated = (level.placement?.scale[d] ?? 0) / (first.placement?.scale[dimension] ?? 0);
        const ratio = Number.isFinite(stated) && stated > 0 ? stated : (whole ?? length) / length;
        const isAnywhere = whole === undefined || (length === 1 && whole > 1 && Math.abs(ratio - 1) < NEARLY);
        return { name, length, first: isAnywhere ? undefined : { dimension, length: whole }, ratio };
      });
      following.set(level.path, { path: level.path, first: first.path, axes });
    }
  }
  return following;
}

/** Path of the image that labels belong to; undefined if the path is not below `labels`. */
function labelledBy(path: string): string | undefined {
  const labels = /^(?:(.*)\/)?labels\/.+$/.exec(path);
  return labels ? (labels[1] ?? "") : undefined;
}

function shapesByPath(nodes: readonly ImageNode[]): ReadonlyMap<string, readonly number[]> {
  return new Map(
    nodes.flatMap(({ path, metadata }) =>
      metadata.kind === "array" ? [[path, metadata.shape] as const] : [],
    ),
  );
}

function imagesAmong(nodes: readonly ImageNode[]): ReadonlyMap<string, Image> {
  const shapes = shapesByPath(nodes);
  const images = new Map<string, Image>();
  for (const { path, metadata } of nodes) {
    if (metadata.kind === "array") continue;
    const [image] = multiscalesOf(metadata.attributes);
    const { axes, levels = [] } = image ?? {};
    if (axes === undefined) continue;
    const there = levels.flatMap((level) => {
      const at = joinKey(path, level.path);
      const shape = shapes.get(at);
      if (shape?.length !== axes.length) return [];
      return [{ path: at, shape, placement: placementOf(level.transformations, axes.length) }];
    });
    images.set(path, { path, axes, levels: there });
  }
  return images;
}

/** Tolerance for rounding errors of a quotient. */
const NEARLY = 1e-6;

/**
 * Maps a selection of the first level to another level: the items that overlap it, `floor(start / ratio)` to
 * `ceil(stop / ratio)`, with the same step.
 *
 * @throws `invalid-selection` if the length of a level contradicts its scale.
 */
export function selectionOfLevel({ path, axes }: ImageLevel, of: Selection): Selection {
  if (of.cycle || of.shift) {
    throw new ZarrflowError("unsupported-operation", "the levels of an image are not sliced across a seam", {
      path,
      hint: "Slice one level instead of the image.",
    });
  }
  const cuts = axes.map(({ name, length, first, ratio }) => {
    if (first === undefined) return { start: 0, step: 1, count: length };
    const { dimension } = first;
    const [start, step, count] = [
      of.start[dimension] ?? 0,
      of.step[dimension] ?? 1,
      of.shape[dimension] ?? 0,
    ];
    if (start === 0 && step === 1 && count === first.length) return { start: 0, step: 1, count: length };
    if (Math.abs(first.length / ratio - length) > 1 + NEARLY)
      throw otherLength(path, name, length, first.length / ratio);
    if (count === 0) return { start: 0, step, count: 0 };
    const from = Math.min(Math.floor(start / ratio + NEARLY), Math.max(0, length - 1));
    const stop = Math.min(Math.ceil((start + (count - 1) * step + 1) / ratio - NEARLY), length);
    return { start: from, step, count: Math.max(1, Math.ceil((stop - from) / step)) };
  });
  return {
    start: cuts.map(({ start }) => start),
    step: cuts.map(({ step }) => step),
    shape: cuts.map(({ count }) => count),
  };
}

function assertNotEmpty(path: string, { shape }: Selection, whole: readonly number[]): void {
  if (!shape.some((n, d) => n === 0 && whole[d] !== 0)) return;
  throw new ZarrflowError("invalid-selection", "the slice leaves no items of the image", {
    path,
    found: `${whole.join(" x ")} items become ${shape.join(" x ")}`,
    hint: "Give ranges whose start is before their stop.",
  });
}

function otherLength(path: string, name: string, length: number, expected: number): ZarrflowError {
  return new ZarrflowError(
    "invalid-selection",
    `a level of an image is not as long as its scale says along ${name}`,
    {
      path,
      expected: `about ${Math.round(expected)} items`,
      found: length,
      hint: "Slice one level instead of the image.",
    },
  );
}

/**
 * Updates the metadata of groups whose images are cut, by path.
 *
 * @throws `invalid-selection` if nothing is left of an image; as `cutImages`
 */
export function groupsOfCutImages(
  nodes: readonly ImageNode[],
  selections: ReadonlyMap<string, Selection>,
): ReadonlyMap<string, NodeMetadata> {
  const shapes = shapesByPath(nodes);
  const groups = new Map<string, NodeMetadata>();
  for (const { path, metadata } of nodes) {
    if (metadata.kind === "array") continue;
    const attributes = cutImages(metadata.attributes, (below) => {
      const at = joinKey(path, below);
      const selection = selections.get(at);
      const whole = shapes.get(at);
      if (selection && whole) assertNotEmpty(at, selection, whole);
      return selection;
    });
    if (attributes !== metadata.attributes) groups.set(path, { ...metadata, attributes });
  }
  return groups;
}
