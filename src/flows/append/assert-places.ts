import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { openNode } from "../../hierarchy/open/open-node.ts";
import { imageAbove } from "../../hierarchy/open/open-via-ancestor.ts";
import { isJsonObject, member } from "../../meta/assert-json.ts";
import { numberList, numbersInText } from "../../meta/conventions/geo/numbers.ts";
import { rasterAxes } from "../../meta/conventions/geo/raster-change.ts";
import { axisOfType, multiscalesOf, omeOf } from "../../meta/conventions/ome/attributes.ts";
import { type Placement, placementOf } from "../../meta/conventions/ome/placement.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import type { JsonObject } from "../../util/json-value.ts";
import { joinKey, lastName } from "../../util/node-path.ts";
import { parseWholeNumber } from "../../util/numbers.ts";
import type { AppendedPair, ArrayPair, NodesByKind, Pairs } from "./pairs.ts";

/**
 * Checks by scales and translations that the levels of an image continue those of the target. Along the growing
 * dimension, only first levels are checked, and only if either states a translation other than 0.
 *
 * @throws `differs` with the expected and the found position.
 */
export async function assertLevelContinues(
  { path, source, target, axis, length }: AppendedPair,
  signal: AbortSignal | undefined,
): Promise<void> {
  const [from, to] = [await placedIn(source, signal), await placedIn(target, signal)];
  if (from === undefined || to === undefined) return;
  const isFirst = from.isFirst && to.isFirst;
  for (const [d, scale] of to.scale.entries()) {
    const named = to.axes?.[d] ?? `dimension ${d}`;
    const found = from.scale[d] ?? 1;
    if (!isNear(found, scale, scale)) throw elsewhere(path, `the scales along ${named}`, scale, found);
    const [before, after] = [to.translation[d] ?? 0, from.translation[d] ?? 0];
    if (d === axis && (!isFirst || (before === 0 && after === 0))) continue;
    const expected = d === axis ? before + length * scale : before;
    if (!isNear(after, expected, scale))
      throw elsewhere(path, `the translations along ${named}`, expected, after);
  }
}

interface PlacedLevel extends Placement {
  readonly axes: readonly string[] | undefined;
  /** True if no level of the image is larger. */
  readonly isFirst: boolean;
}

/** Position of an image level; undefined if the array is not one, or its position is unknown. */
async function placedIn(array: ZarrArray, signal: AbortSignal | undefined): Promise<PlacedLevel | undefined> {
  const above = await imageAbove(array, signal);
  if (above === undefined) return undefined;
  const { image, level } = above;
  const rank = array.shape.length;
  try {
    const own = placementOf(level.transformations, rank);
    const outer = placementOf(image.stated.coordinateTransformations, rank);
    if (own === undefined && outer === undefined) return undefined;
    const { scale = ones(rank), translation = ones(rank).fill(0) } = own ?? {};
    const times = (values: readonly number[]) => values.map((value, d) => value * (outer?.scale[d] ?? 1));
    return {
      scale: times(scale),
      translation: times(translation).map((value, d) => value + (outer?.translation[d] ?? 0)),
      axes: image.axes,
      isFirst: image.levels[0] === level,
    };
  } catch (error) {
    if (isZarrflowError(error, "unsupported-operation")) return undefined;
    throw error;
  }
}

function ones(rank: number): number[] {
  return new Array<number>(rank).fill(1);
}

/**
 * Checks that rasters whose dimensions have no coordinates continue those of the target, by `GeoTransform` and
 * `spatial:transform` of the arrays, their grid mappings and the groups.
 *
 * @throws `differs` with the expected and the found coefficients.
 */
export function assertRastersContinue(
  { appended, others }: Pairs,
  roots: { readonly source: ZarrNode; readonly target: ZarrNode },
): void {
  const raster = appended.find(({ target }) => target.shape.length >= 2);
  const spatial = raster && rasterAxes(raster.target.metadata);
  if (raster === undefined || spatial === undefined) return;
  if (hasCoordinates(raster, spatial, [...appended, ...others])) return;
  const { axis, length } = raster;
  const [y, x] = spatial;
  const steps = [axis === x ? length : 0, axis === y ? length : 0];
  for (const { path, source, target } of [{ path: "", ...roots }, ...appended, ...others]) {
    for (const [name, read] of Object.entries(TRANSFORMS)) {
      const [before, found] = [read(target.metadata.attributes), read(source.metadata.attributes)];
      if (before === undefined || found === undefined) continue;
      const expected = movedBy(before, steps);
      const size = Math.max(...[0, 1, 3, 4].map((i) => Math.abs(before[i] ?? 0)));
      if (expected.every((value, i) => isNear(found[i] ?? 0, value, size))) continue;
      throw elsewhere(path, `\`${name}\``, expected.join(" "), found.join(" "));
    }
  }
}

/** Reads each form as the six coefficients `a b c d e f` of `x = a col + b row + c`, `y = d col + e row + f`. */
const TRANSFORMS: Readonly<Record<string, (attributes: JsonObject) => readonly number[] | undefined>> = {
  GeoTransform({ GeoTransform: stated }) {
    const found = typeof stated === "string" ? numbersInText(stated, 6) : numberList(stated, 6);
    const [c = 0, a = 0, b = 0, f = 0, d = 0, e = 0] = found ?? [];
    return found && [a, b, c, d, e, f];
  },
  "spatial:transform": (attributes) => numberList(attributes["spatial:transform"], 6, 9),
};

function movedBy([a = 0, b = 0, c = 0, d = 0, e = 0, f = 0]: readonly number[], steps: readonly number[]) {
  const [columns = 0, rows = 0] = steps;
  return [a, b, c + a * columns + b * rows, d, e, f + d * columns + e * rows];
}

/** True if both dimensions of a raster have coordinate arrays, which are compared instead. */
function hasCoordinates(
  { target: { dimensionNames = [] } }: ArrayPair,
  spatial: readonly number[],
  pairs: readonly ArrayPair[],
): boolean {
  const names = new Set<string | null>(
    pairs.flatMap(({ path, target }) => (target.shape.length === 1 ? [lastName(path)] : [])),
  );
  return spatial.every((d) => names.has(dimensionNames[d] ?? null));
}

function isNear(a: number, b: number, size: number): boolean {
  return Math.abs(a - b) <= 1e-6 * Math.abs(size);
}

function elsewhere(
  path: string,
  what: string,
  expected: string | number,
  found: string | number,
): ZarrflowError {
  return new ZarrflowError("differs", `${what} of the source do not continue those of the target`, {
    path,
    expected: `${expected}`,
    found: `${found}`,
    hint: "Nothing was written. Append parts of one grid in order, or correct the positions that the metadata states.",
  });
}

/**
 * Checks that an append keeps the images of a target consistent: all levels of an image grow, with its labels, and none
 * grows along channels that the image describes.
 *
 * @returns true if there are images
 * @throws `unsupported-operation` for a single level, and for described channels
 */
export async function assertImagesStay(
  target: ZarrNode,
  { groups }: NodesByKind,
  dim: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  for (const group of groups.values()) assertNoChannels(group, dim);
  if (target.kind === "group")
    return [...groups.values()].some(({ metadata }) => multiscalesOf(metadata.attributes).length > 0);
  const above = await imageAbove(target, signal);
  if (above === undefined) return false;
  const { group, image } = above;
  const { zarrFormat } = group.layout;
  const labels = joinKey(group.path, "labels");
  const others = [
    ...(image.levels.length > 1 ? ["levels"] : []),
    ...((await openNode(group.store, labels, { spec: group.spec, zarrFormat, signal })) ? ["labels"] : []),
  ];
  if (others.length === 0) {
    assertNoChannels(group, dim);
    return true;
  }
  throw new ZarrflowError(
    "unsupported-operation",
    `the target is one level of an image, but the image's ${others.join(" and ")} would not grow with it`,
    { path: target.path, hint: "Append an image to an image: name the groups that contain the levels." },
  );
}

function assertNoChannels({ path, metadata: { attributes } }: ZarrGroup, dim: string): void {
  const omero = member(omeOf(attributes)?.metadata ?? {}, "omero");
  const channels = isJsonObject(omero) ? member(omero, "channels") : undefined;
  const grows = multiscalesOf(attributes).some((image) => {
    const c = axisOfType(image, "channel");
    return c >= 0 && (dim === image.axes?.[c] || parseWholeNumber(dim) === c);
  });
  if (!grows || !Array.isArray(channels) || channels.length === 0) return;
  throw new ZarrflowError(
    "unsupported-operation",
    "the image describes its channels, and the append would add channels without a description",
    { path, hint: "Remove `omero` from its metadata first (in code setAttributes)." },
  );
}
