import type { NewGroup } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { joinKey } from "../../src/util/node-path.ts";
import { type GivenArray, type GivenGroup, given } from "./given.ts";

export interface ImageRecipe {
  readonly zarrFormat: "v2" | "v3";
  /** 0.6 in v3, in the words of ome-zarr-py 0.21; by default 0.4 in v2, and 0.5 in v3. */
  readonly version?: "0.6";
  readonly axes: readonly string[];
  /** Shapes of the levels, the largest first. */
  readonly shapes: readonly (readonly number[])[];
  /** Size of an item of the first level along each axis; 1 by default. */
  readonly itemSize?: readonly number[];
  /** Where the first item of each level lies; absent: none is stated. */
  readonly translations?: readonly (readonly number[])[];
  /** Names of labels, of the same shapes without the axis `c`. */
  readonly labels?: readonly string[];
  readonly omero?: object;
  readonly dimensionNames?: readonly (string | null)[];
}

const TYPES: Readonly<Record<string, string>> = { t: "time", c: "channel" };

/** A store in memory that is an OME-Zarr image: 0.4 in Zarr v2, 0.5 in v3. */
export function makeImage(recipe: ImageRecipe): Promise<MemoryStore> {
  const { zarrFormat } = recipe;
  const at = new MemoryStore(`image ${zarrFormat}`);
  return given({ at, zarrFormat, attributes: imageAttributes(recipe), ...imageNodes(recipe) });
}

/** What an image states of itself. */
export function imageAttributes(recipe: ImageRecipe, others: object = {}): Record<string, unknown> {
  const { zarrFormat, axes, shapes, itemSize = axes.map(() => 1), translations, omero } = recipe;
  const [first = []] = shapes;
  const multiscale = {
    name: "made",
    axes: axes.map((name) => ({ name, type: TYPES[name] ?? "space" })),
    datasets: shapes.map((shape, level) => {
      const scale = itemSize.map((size, d) => (size * (first[d] ?? 1)) / (shape[d] ?? 1));
      const translation = translations?.[level];
      return {
        path: `${level}`,
        coordinateTransformations: [
          { type: "scale", scale },
          ...(translation ? [{ type: "translation", translation }] : []),
        ],
      };
    }),
  };
  const rest = { ...(omero && { omero }), ...others };
  if (recipe.version)
    return { ome: { version: recipe.version, multiscales: [inSystems(multiscale)], ...rest } };
  return zarrFormat === "v2"
    ? { multiscales: [{ version: "0.4", ...multiscale }], ...rest }
    : { ome: { version: "0.5", multiscales: [multiscale], ...rest } };
}

/** A multiscale in the words of 0.6: its axes are a coordinate system, in which each level is placed. */
function inSystems({ axes, datasets, ...rest }: Multiscale): object {
  return {
    coordinateSystems: [{ name: "physical", axes: axes.map((axis) => ({ ...axis, unit: "micrometer" })) }],
    datasets: datasets.map(({ path, coordinateTransformations: [first, ...others] }) => {
      const ends = { input: { path }, output: { name: "physical" } };
      const placed =
        others.length === 0
          ? { ...first, ...ends }
          : { type: "sequence", ...ends, transformations: [first, ...others] };
      return { path, coordinateTransformations: [placed] };
    }),
    ...rest,
  };
}

interface Multiscale {
  readonly name: string;
  readonly axes: readonly object[];
  readonly datasets: readonly {
    readonly path: string;
    readonly coordinateTransformations: readonly object[];
  }[];
}

/** The levels of an image at a path, and its labels. */
export function imageNodes(recipe: ImageRecipe, path = ""): Required<Pick<GivenGroup, "arrays" | "groups">> {
  const { zarrFormat, axes, shapes, labels = [], dimensionNames } = recipe;
  const names = dimensionNames ?? (zarrFormat === "v3" ? axes : undefined);
  const at = (name: string) => joinKey(path, name);
  const arrays: Record<string, GivenArray> = {};
  for (const [level, shape] of shapes.entries())
    arrays[at(`${level}`)] = {
      ...{ dataType: "uint16", shape, chunks: shape.map((n) => Math.min(n, 5)), fillValue: 0 },
      ...(zarrFormat === "v2" && { separator: "/" as const }),
      ...(names && { dimensionNames: names }),
      values: (i) => i + 1000 * level,
    };
  if (labels.length === 0) return { arrays, groups: {} };
  const list = zarrFormat === "v2" ? { labels } : { ome: { version: recipe.version ?? "0.5", labels } };
  const isKept = (_: unknown, d: number) => axes[d] !== "c";
  const { itemSize, translations, omero: _, labels: __, ...rest } = recipe;
  const label: ImageRecipe = {
    ...rest,
    axes: axes.filter(isKept),
    shapes: shapes.map((shape) => shape.filter(isKept)),
    ...(itemSize && { itemSize: itemSize.filter(isKept) }),
    ...(translations && { translations: translations.map((one) => one.filter(isKept)) }),
  };
  const groups: Record<string, NewGroup> = { [at("labels")]: { attributes: list } };
  for (const name of labels) {
    const attributes = imageAttributes(label, { "image-label": { source: { image: "../../" } } });
    groups[at(`labels/${name}`)] = { attributes };
    Object.assign(arrays, imageNodes(label, at(`labels/${name}`)).arrays);
  }
  return { arrays, groups };
}
