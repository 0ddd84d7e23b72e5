import { type OpenSource, openGroup, walk, type ZarrGroup, type ZarrNode } from "../../src/index.ts";

/** What CF lets an array's attributes name: other arrays of its group, or of one above. */
const NAMING = [
  "coordinates",
  "grid_mapping",
  "bounds",
  "climatology",
  "ancillary_variables",
  "cell_measures",
];

/** A node as conventions see it: by its path below the root. */
export interface Described {
  readonly kind: string;
  readonly attributes: unknown;
  readonly dimensionNames: readonly (string | null)[] | undefined;
}

/** All nodes of a hierarchy with what conventions are written in. */
export async function described(source: OpenSource): Promise<Record<string, Described>> {
  const nodes = await nodesOf(source);
  return Object.fromEntries(
    [...nodes].map(([path, node]) => [
      path,
      {
        kind: node.kind,
        attributes: node.attributes,
        dimensionNames: node.kind === "array" ? node.dimensionNames : undefined,
      },
    ]),
  );
}

/**
 * Nodes without the attribute that v3 has in place of v2's fill value, and with the empty list of names that v2 has of an
 * array without dimensions.
 */
export function withoutMissing(nodes: Record<string, Described>): Record<string, Described> {
  return Object.fromEntries(
    Object.entries(nodes).map(([path, node]) => {
      const { _FillValue: _, ...attributes } = node.attributes as Record<string, unknown>;
      const { dimensionNames = node.kind === "array" ? [] : undefined } = node;
      return [path, { ...node, attributes, dimensionNames }];
    }),
  );
}

/** What attributes name in a hierarchy, and the path at which it is; null where it is not. */
export async function references(source: OpenSource): Promise<Record<string, string | null>> {
  const nodes = await nodesOf(source);
  const found: Record<string, string | null> = {};
  for (const [path, node] of nodes) {
    for (const attribute of NAMING) {
      for (const name of namesIn(node.attributes[attribute])) {
        found[`${path || "/"} ${attribute} ${name}`] = nearest(name, path, nodes);
      }
    }
    for (const level of levelsOf(node.attributes)) {
      const at = join(path, level);
      found[`${path || "/"} multiscales ${level}`] = nodes.has(at) ? at : null;
    }
  }
  return found;
}

async function nodesOf(source: OpenSource): Promise<Map<string, ZarrNode>> {
  const root = typeof source === "string" ? await openGroup(source) : (source as ZarrGroup);
  const nodes = new Map<string, ZarrNode>([["", root]]);
  for await (const node of walk(root)) nodes.set(node.path.slice(root.path.length).replace(/^\//, ""), node);
  return nodes;
}

/** Names in `lat lon`, `crs: lat lon` and `area: cell_area`, but keys of the last two that name no variable. */
function namesIn(value: unknown): string[] {
  if (typeof value !== "string") return [];
  const words = value.split(/\s+/).filter(Boolean);
  const isMeasure = (word: string) => word === "area:" || word === "volume:";
  return words.filter((word) => !isMeasure(word)).map((word) => word.replace(/:$/, ""));
}

/** The array called `name` beside a node, or in a group above it. */
function nearest(name: string, path: string, nodes: ReadonlyMap<string, ZarrNode>): string | null {
  const groups = path.split("/").slice(0, -1);
  for (let length = groups.length; length >= 0; length--) {
    const at = join(groups.slice(0, length).join("/"), name);
    if (nodes.get(at)?.kind === "array") return at;
  }
  return null;
}

interface Multiscale {
  readonly datasets?: readonly { readonly path: string }[];
}

/** Paths of levels: of OME-NGFF in both places, and of GeoZarr as a layout or as tile matrices. */
function levelsOf(attributes: Record<string, unknown>): string[] {
  const ome = attributes.ome as { readonly multiscales?: unknown } | undefined;
  return [attributes.multiscales, ome?.multiscales].flatMap((stated) => {
    if (Array.isArray(stated)) {
      return (stated as Multiscale[]).flatMap(({ datasets = [] }) => datasets.map(({ path }) => path));
    }
    const { layout = [], tile_matrix_limits: limits = {} } = (stated ?? {}) as {
      layout?: readonly { readonly asset: string }[];
      tile_matrix_limits?: object;
    };
    return [...layout.map(({ asset }) => asset), ...Object.keys(limits)];
  });
}

const join = (path: string, name: string) => (path === "" ? name : `${path}/${name}`);
