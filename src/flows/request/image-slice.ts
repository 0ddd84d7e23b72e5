import type { NodeMetadata } from "../../meta/array-metadata.ts";
import { cutImages } from "../../meta/conventions/ome/cut-image.ts";
import { multiscalesOf } from "../../meta/conventions/ome/multiscales.ts";
import { type Placement, placementOf } from "../../meta/conventions/ome/placement.ts";
import { joinKey } from "../../meta/join-key.ts";
import type { Selection } from "../../streams/selection.ts";
import { ZarrflowError } from "../../util/errors.ts";

/** A node of the group that is cut. */
export interface ImageNode {
  readonly path: string;
  readonly metadata: NodeMetadata;
}

/** A level of an image, and the level that ranges are given for: the first of the image, or of the image it labels. */
export interface ImageLevel {
  readonly path: string;
  /** Path of the level that ranges are given for. */
  readonly first: string;
  readonly axes: readonly AxisOfLevel[];
}

interface AxisOfLevel {
  readonly name: string;
  readonly length: number;
  /** The same of the first level; undefined where that has no such axis, or this level is the same all along it. */
  readonly first: { readonly dimension: number; readonly length: number } | undefined;
  /** Items of the first level in one of this. */
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
 * The levels of all images of a group that follow another one, by path: all but the first of each image, and those of
 * labels.
 *
 * @throws `unsupported-operation` for transformations that are not known.
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

/** Path of the image that labels at a path are of, where they lie as labels do. */
function labelledBy(path: string): string | undefined {
  const labels = /^(?:(.*)\/)?labels\/.+$/.exec(path);
  return labels ? (labels[1] ?? "") : undefined;
}

/** The shapes of the arrays among nodes. */
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

/** How far a quotient may be from what it stands for. */
const NEARLY = 1e-6;

/**
 * What a level gives for a part of the first one: the items that hold any of it, `floor(start / ratio)` to
 * `ceil(stop / ratio)`, and of these as many as the step leaves.
 *
 * @throws `invalid-selection` where a level is not as long as its scale says.
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
 * The groups whose images are cut, with metadata that are true of what is taken, by path.
 *
 * @throws `invalid-selection` where nothing is left of an image; as `cutImages`
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
