import type { ImageChannel, ImageLevel, ViewedNode } from "../../../flows/view/describe-node.ts";
import type { Cut } from "../../../flows/view/read-numbers.ts";

/** One resolution of an array or image. */
export interface ShownLevel extends ImageLevel {
  /** Path of its array below the URL of the page. */
  readonly path: string;
}

/** An array, or an image of several levels whose channels are drawn over each other. */
export interface Shown {
  readonly levels: readonly ShownLevel[];
  readonly names: readonly string[];
  /** True if all dimensions have names, all different. Otherwise some of `names` are made up. */
  readonly areNamed: boolean;
  readonly axisUnits: readonly (string | undefined)[];
  readonly units: string;
  readonly title: string;
  /** True if the shown numbers differ from the stored ones: these are packed, or some of them mean "missing". */
  readonly isDecoded: boolean;
  /** Channels of an image, along its dimension `channel` if it has one. */
  readonly channels?: readonly ImageChannel[];
  /** The dimension of the channels; -1 if there is none. */
  readonly channel: number;
  readonly first: Readonly<Record<string, number>>;
}

/** The part of a node that can be drawn; undefined if it has no numbers. */
export function shownOf(path: string, { array, image }: ViewedNode): Shown | undefined {
  if (image) {
    const { axes, channels, first } = image;
    const below = (level: string) => (path === "" ? level : `${path}/${level}`);
    const channel = axes.findIndex(({ name }) => name === "c");
    const count = channel < 0 ? 1 : (image.levels[0]?.shape[channel] ?? 1);
    const stated = Array.from({ length: Math.min(count, 64) }, (_, i) => channels[i] ?? { isActive: i < 6 });
    return {
      levels: image.levels.map((level) => ({ ...level, path: below(level.path) })),
      names: axes.map(({ name }) => name),
      areNamed: true,
      axisUnits: axes.map(({ unit }) => unit),
      units: "",
      title: "",
      isDecoded: false,
      channels: stated,
      channel,
      first,
    };
  }
  if (!array?.isDrawn) return undefined;
  const { shape, chunkShape, innerChunkShape = chunkShape, dimensionNames, itemSize = 1 } = array;
  const isNamed = dimensionNames.every((name) => name !== null);
  return {
    levels: [{ path, shape, chunkShape: innerChunkShape, itemSize }],
    names: dimensionNames.map((name, d) => name ?? `dimension ${d}`),
    areNamed: isNamed && new Set(dimensionNames).size === shape.length,
    axisUnits: shape.map(() => undefined),
    units: array.units ?? "",
    title: array.title ?? "",
    isDecoded: array.packing !== undefined || array.missing.some((number) => number !== "NaN"),
    channel: -1,
    first: {},
  };
}

/** Selects evenly spaced items between two fractions of a dimension, at most `most` of them. */
export function cutOf(length: number, from: number, to: number, most: number): Cut {
  const start = Math.min(length - 1, Math.max(0, Math.round(from * length)));
  const stop = Math.max(start + 1, Math.min(length, Math.round(to * length)));
  const step = Math.ceil((stop - start) / most);
  return { start, step, count: Math.ceil((stop - start) / step) };
}

export function at(index: number): Cut {
  return { start: index, step: 1, count: 1 };
}

/** The cost of reading: chunks, and their decoded bytes. */
export function readCost(level: ShownLevel, cuts: readonly Cut[]): { chunks: number; bytes: number } {
  let [chunks, bytes] = [1, level.itemSize];
  cuts.forEach(({ start, step, count }, d) => {
    const size = level.chunkShape[d] ?? 1;
    const last = start + (count - 1) * step;
    chunks *= step >= size ? count : Math.floor(last / size) - Math.floor(start / size) + 1;
    bytes *= Math.min(size, level.shape[d] ?? 1);
  });
  return { chunks, bytes: chunks * bytes };
}

export function cutText(cuts: readonly Cut[]): string {
  return cuts.map(({ start, step, count }) => `${start}:${step}:${count}`).join(",");
}
