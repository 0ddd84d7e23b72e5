import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import { openNode } from "../../hierarchy/open/open-node.ts";
import { multiscalesOf } from "../../meta/conventions/ome/multiscales.ts";
import { placementOf } from "../../meta/conventions/ome/placement.ts";
import { V2_VERSION, V3_VERSION } from "../../meta/conventions/ome/versions.ts";
import { joinKey } from "../../meta/join-key.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { blockOffset, type LevelShape } from "./level-plan.ts";

type Plain = { readonly [name: string]: unknown };

/** An image of which a pyramid is made. */
export interface Image {
  readonly array: ZarrArray;
  readonly axes: readonly Plain[];
  /** Where the items of the array lie. */
  readonly scale: readonly number[];
  readonly translation: readonly number[];
  /** Of the group that has the image, and of its multiscale, as they are; empty for an array alone. */
  readonly attributes: Plain;
  readonly multiscale: Plain;
}

const SPACE = ["z", "y", "x"];
const AXES_BY_RANK: Readonly<Record<number, string>> = { 2: "yx", 3: "zyx", 4: "czyx", 5: "tczyx" };
const TYPES: Readonly<Record<string, string>> = {
  t: "time",
  c: "channel",
  z: "space",
  y: "space",
  x: "space",
};
const LONG_NAMES: Readonly<Record<string, string>> = { time: "t", channel: "c" };

/** The first image of a group, or an array as an image; undefined for a group without images. */
export async function imageOf(
  root: ZarrNode,
  { axes, signal }: { readonly axes?: string | undefined; readonly signal?: AbortSignal | undefined },
): Promise<Image | undefined> {
  if (root.kind === "array") return imageOfArray(root, axes);
  const [image] = multiscalesOf(root.metadata.attributes);
  const [first] = image?.levels ?? [];
  if (image === undefined || first === undefined) return undefined;
  const { zarrFormat } = root.layout;
  const path = joinKey(root.path, first.path);
  const array = await openNode(root.store, path, { ...root.reading, spec: root.spec, zarrFormat, signal });
  if (array?.kind !== "array") {
    throw new ZarrflowError("not-found", "the first level of the image is not there", { path });
  }
  const rank = array.shape.length;
  const { attributes } = root;
  const ome = (attributes.ome ?? attributes) as Plain;
  const [multiscale = {}] = (ome.multiscales ?? []) as unknown as Plain[];
  const stated = Array.isArray(multiscale.axes) ? (multiscale.axes as unknown[]) : [];
  const named = stated.map((axis) => (typeof axis === "string" ? axisNamed(axis) : (axis as Plain)));
  const { scale = array.shape.map(() => 1), translation = array.shape.map(() => 0) } =
    placementOf(first.transformations, rank) ?? {};
  const own = named.length === rank ? named : [...(image.axes ?? axesByRank(array))].map(axisNamed);
  return { array, axes: own, scale, translation, attributes, multiscale };
}

function imageOfArray(array: ZarrArray, given: string | undefined): Image {
  const names = array.dimensionNames?.map((name) => longName(name));
  const areKnown = names?.every((name) => Object.hasOwn(TYPES, name)) && new Set(names).size === names.length;
  const axes = given ? [...given] : areKnown ? names : names ? undefined : [...axesByRank(array)];
  const isValid =
    axes?.length === array.shape.length &&
    axes.every((name) => Object.hasOwn(TYPES, name)) &&
    new Set(axes).size === axes.length;
  if (!isValid) {
    throw new ZarrflowError("invalid-option", "the axes of the image are not known", {
      path: array.path,
      expected: `${array.shape.length} of t, c, z, y, x`,
      found: given ?? array.dimensionNames?.map((name) => name ?? "(no name)").join(", ") ?? "no names",
      hint: "Give them with --axes (in code axes), such as tyx; of a geographic data set name the group.",
    });
  }
  return {
    array,
    axes: axes.map(axisNamed),
    scale: axes.map(() => 1),
    translation: axes.map(() => 0),
    attributes: {},
    multiscale: {},
  };
}

function longName(name: string | null): string {
  if (name === null) return "";
  return Object.hasOwn(LONG_NAMES, name) ? (LONG_NAMES[name] ?? name) : name;
}

function axesByRank({ shape }: ZarrArray): string {
  return AXES_BY_RANK[shape.length] ?? "";
}

function axisNamed(name: string): Plain {
  return { name, ...(TYPES[name] && { type: TYPES[name] }) };
}

export function axisNames({ axes }: Image): string[] {
  return axes.map(({ name }) => String(name));
}

/** Axes that shrink: those of space, by their type or their name. */
export function spatialAxes({ axes }: Image): string[] {
  const isSpace = ({ name, type }: Plain) =>
    type === "space" || (type === undefined && SPACE.includes(String(name)));
  return axes.filter(isSpace).map(({ name }) => String(name));
}

/** The attributes of the group of a pyramid, of version 0.4 in v2 and 0.5 in v3. */
export function imageAttributes(
  { axes, scale, translation, attributes, multiscale }: Image,
  levels: readonly LevelShape[],
  {
    zarrFormat,
    method,
    name,
  }: { readonly zarrFormat: string; readonly method: string; readonly name: string },
): Plain {
  const datasets = levels.map((level, i) => {
    const offsets = translation.map(
      (at, d) => at + (scale[d] ?? 1) * blockOffset(level.scale[d] ?? 1, method),
    );
    const scales = scale.map((size, d) => size * (level.scale[d] ?? 1));
    return {
      path: `${i}`,
      coordinateTransformations: [
        { type: "scale", scale: scales },
        ...(offsets.some((at) => at !== 0) ? [{ type: "translation", translation: offsets }] : []),
      ],
    };
  });
  const { version: _, metadata: __, ...kept } = multiscale;
  const described = { name, ...kept, axes, datasets, type: method };
  const { ome, multiscales: ___, ...others } = attributes as { ome?: Plain; multiscales?: unknown };
  return zarrFormat === "v3"
    ? { ...others, ome: { ...ome, version: V3_VERSION, multiscales: [described] } }
    : { ...others, multiscales: [{ version: V2_VERSION, ...described }] };
}
