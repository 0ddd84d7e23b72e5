import { finiteNumber, type JsonObject, type JsonValue } from "../../util/json-value.ts";
import { joinKey, lastName } from "../../util/node-path.ts";
import { type ArrayMetadata, gridShape, type NodeMetadata, type Original } from "../array-metadata.ts";
import { isJsonObject, member } from "../assert-json.ts";
import { otherNames } from "../documents.ts";
import { PREFIX } from "../v2/configuration.ts";
import {
  type ChangedArray,
  type ChangedNode,
  type Convention,
  type ConventionNode,
  type GridChange,
  isArray,
} from "./convention.ts";
import { parentIs } from "./geo/raster-change.ts";

/** Names of the NCZarr objects of groups and of arrays, those of newer releases first. */
const GROUP = ["_nczarr_group", "_NCZARR_GROUP"];
const ARRAY = ["_nczarr_array", "_NCZARR_ARRAY"];
const SUPERBLOCK = ["_nczarr_superblock", "_NCZARR_SUPERBLOCK"];

/**
 * Updates NCZarr's dimensions to their lengths in the target, and its lists of members. netCDF-C cannot open a data
 * set with any wrong entry. An array that differs in length from its dimension therefore gets a dimension of its own.
 */
export function followNcZarr(nodes: readonly ChangedNode[], change: GridChange): readonly ChangedNode[] {
  if (!nodes.some(({ metadata }) => find(metadata, [...GROUP, ...ARRAY]))) return nodes;
  const references = new References(nodes, change);
  return nodes.map((node) => {
    const metadata = isArray(node) ? references.array(node) : references.group(node);
    return metadata === node.metadata ? node : { ...node, metadata };
  });
}

/** A dimension of the target, and the replacements for arrays with other lengths. */
interface Dimension {
  readonly length: number;
  readonly others: ReadonlyMap<number, string>;
}

interface LengthOfArray {
  readonly length: number;
  readonly array: ChangedArray;
  /** True if the length has not changed. */
  readonly isOld: boolean;
}

class References {
  readonly #nodes: readonly ChangedNode[];
  readonly #change: GridChange;
  readonly #dimensions: ReadonlyMap<string, Dimension>;

  constructor(nodes: readonly ChangedNode[], change: GridChange) {
    this.#nodes = nodes;
    this.#change = change;
    const lengths = new Map<string, LengthOfArray[]>();
    for (const array of nodes.filter(isArray)) {
      for (const [d, path] of this.#pathsOf(array).entries()) {
        const length = array.metadata.shape[d];
        if (length === undefined) continue;
        const { metadata } = array.from;
        const isOld = metadata.kind === "array" && metadata.shape[d] === length;
        const own = lengths.get(path) ?? [];
        own.push({ length, array, isOld });
        lengths.set(path, own);
      }
    }
    this.#dimensions = new Map([...lengths].map(([path, all]) => [path, this.#dimension(path, all)]));
  }

  /** Paths of an array's dimensions, below the root; none if the array does not state them. */
  #pathsOf(array: ChangedArray): string[] {
    const stated = referencesIn(array.metadata);
    if (stated?.length !== array.metadata.shape.length) return [];
    return stated.map((path) => this.#inTarget(array, path));
  }

  /** Converts a reference to a dimension into a path below the target's root; the dimension moves with the array. */
  #inTarget({ path, from }: ChangedArray, reference: string): string {
    const root = this.#change.root === "" ? "/" : `/${this.#change.root}/`;
    const below = reference.startsWith(root) ? reference.slice(root.length) : reference.replace(/^\//, "");
    const isMoved = path.endsWith(`/${from.path}`);
    return joinKey(isMoved ? path.slice(0, -from.path.length - 1) : "", below);
  }

  #dimension(path: string, all: readonly LengthOfArray[]): Dimension {
    const named = all.find(({ array }) => array.path === path) ?? all.find(({ isOld }) => isOld) ?? all[0];
    const length = named?.length ?? 0;
    const others = new Map<number, string>();
    for (const one of all) {
      if (one.length === length || others.has(one.length)) continue;
      const name = `${lastName(path)}_${one.length}`;
      others.set(one.length, name);
      const message = `dimension \`${lastName(path)}\` has ${one.length} items here, and ${length} in others: it is \`${name}\` to netCDF-C`;
      this.#change.note(one.array, message, "Change all arrays that have this dimension in the same way.");
    }
    return { length, others };
  }

  array(node: ChangedArray): NodeMetadata {
    const own = find(node.metadata, ARRAY);
    const paths = this.#pathsOf(node);
    const stated = referencesIn(node.metadata);
    if (own === undefined) return node.metadata;
    const prefix = this.#change.root === "" ? "/" : `/${this.#change.root}/`;
    const references = paths.map((path, d) => {
      const { length, others } = this.#dimensions.get(path) ?? {};
      const size = node.metadata.shape[d] ?? 0;
      const name = length === size ? undefined : others?.get(size);
      const folder = path.slice(0, path.lastIndexOf("/") + 1);
      return `${prefix}${name === undefined ? path : `${folder}${name}`}`;
    });
    const isSame = stated === undefined || paths.length === 0 || `${references}` === `${stated}`;
    const listName = ["dimension_references", "dimrefs"].find((name) => Object.hasOwn(own.object, name));
    const storage = member(own.object, "storage");
    const isDivided = gridShape(node.metadata.shape, node.metadata.chunkGrid.chunkShape).some((n) => n > 1);
    const isChunked = isDivided && typeof storage === "string" && storage !== "chunked";
    if ((isSame || listName === undefined) && !isChunked) return node.metadata;
    return replaced(node.metadata, own, {
      ...own.object,
      ...(!isSame && listName !== undefined && { [listName]: references }),
      ...(isChunked && { storage: "chunked" }),
    });
  }

  group(node: ChangedNode): NodeMetadata {
    const metadata = withoutInnerSuperblock(node);
    const own = find(metadata, GROUP);
    if (own === undefined) return metadata;
    const changes: JsonObject = {};
    for (const name of ["dimensions", "dims"]) {
      const dimensions = member(own.object, name);
      if (isJsonObject(dimensions)) changes[name] = this.#sizes(dimensions, node.path);
    }
    for (const [name, kind] of LISTS) {
      const list = member(own.object, name);
      if (Array.isArray(list)) changes[name] = this.#members(list, node.path, kind);
    }
    const isSame = Object.entries(changes).every(([name, value]) => value === own.object[name]);
    return isSame ? metadata : replaced(metadata, own, { ...own.object, ...changes });
  }

  #sizes(dimensions: JsonObject, group: string): JsonObject {
    const sizes: JsonObject = {};
    let isSame = true;
    for (const [name, value] of Object.entries(dimensions)) {
      const { length, others } = this.#dimensions.get(joinKey(group, name)) ?? {};
      const size = isJsonObject(value) ? finiteNumber(member(value, "size")) : finiteNumber(value);
      sizes[name] = length === undefined || size === length ? value : sized(value, length);
      if (sizes[name] !== value) isSame = false;
      for (const [otherLength, other] of others ?? []) {
        if (Object.hasOwn(dimensions, other)) continue;
        sizes[other] = otherLength;
        isSame = false;
      }
    }
    return isSame ? dimensions : sizes;
  }

  /** Names of the existing members: the listed ones in their order, then new ones. */
  #members(list: JsonValue[], group: string, kind: "array" | "group"): JsonValue[] {
    const own = this.#nodes.filter(({ path, metadata }) => metadata.kind === kind && parentIs(path, group));
    const added = own
      .filter(({ path }) => this.#change.isNew(path))
      .map(({ path }) => lastName(path))
      .filter((name) => !list.includes(name));
    const kept = list.filter(
      (name) => typeof name !== "string" || !this.#change.isGone(joinKey(group, name)),
    );
    return kept.length === list.length && added.length === 0 ? list : [...kept, ...added];
  }
}

const LISTS = [
  ["arrays", "array"],
  ["vars", "array"],
  ["groups", "group"],
] as const;

/** Keeps the object form of unlimited dimensions. */
function sized(value: JsonValue, length: number): JsonValue {
  return isJsonObject(value) ? { ...value, size: length } : length;
}

/** Removes the superblock from a root that becomes a group of a level. */
function withoutInnerSuperblock({ path, from, metadata }: ChangedNode): NodeMetadata {
  const isInner = from.path === "" && path !== "";
  if (!isInner || !SUPERBLOCK.some((name) => Object.hasOwn(metadata.attributes, name))) return metadata;
  return { ...metadata, attributes: otherNames(metadata.attributes, SUPERBLOCK) };
}

interface Own {
  readonly name: string;
  readonly object: JsonObject;
  /** True if the object is a member of the document itself, not an attribute. */
  readonly isBeside: boolean;
}

/** Finds an NCZarr object, among the attributes or among the members of the document. */
function find({ attributes, extra }: NodeMetadata, names: readonly string[]): Own | undefined {
  for (const name of names) {
    for (const [json, isBeside] of [
      [attributes, false],
      [extra?.json ?? {}, true],
    ] as const) {
      const object = member(json, name);
      if (isJsonObject(object)) return { name, object, isBeside };
    }
  }
  return undefined;
}

function replaced(metadata: NodeMetadata, { name, isBeside }: Own, object: JsonObject): NodeMetadata {
  if (!isBeside || metadata.extra === undefined)
    return { ...metadata, attributes: { ...metadata.attributes, [name]: object } };
  return { ...metadata, extra: { ...metadata.extra, json: { ...metadata.extra.json, [name]: object } } };
}

function referencesIn(metadata: ArrayMetadata): string[] | undefined {
  const object = find(metadata, ARRAY)?.object ?? {};
  const list = member(object, "dimension_references") ?? member(object, "dimrefs");
  return Array.isArray(list) && list.every((one) => typeof one === "string")
    ? list.map((one) => (one.startsWith("/") ? one : `/${one}`))
    : undefined;
}

/**
 * Metadata of netCDF-C: dimensions, types of attributes, the format's version. In v2, older releases add members to
 * `.zarray` and `.zgroup`; v3 does not allow such members, because readers would have to know them. Newer releases,
 * and all in v3, use attributes.
 */
export const ncZarr: Convention = {
  name: "NCZarr",
  ofOthers: /^_nczarr_(?:group|array)$/i,
  convert(nodes, { from, to, note }) {
    if (from === "v2" && to === "v3") {
      return nodes.map((node) => {
        const names = Object.keys(ownNames(node.metadata.extra));
        if (names.length === 0) return node;
        note({
          path: node.path,
          message: `${names.join(", ")} of NCZarr ${names.length === 1 ? "becomes an attribute" : "become attributes"}, as netCDF-C stores ${names.length === 1 ? "it" : "them"} since 4.9.3`,
        });
        return toAttributes(node);
      });
    }
    return from === "v3" && to === "v2" ? nodes.map(toDocument) : nodes;
  },
  follow: followNcZarr,
};

/** Members that only releases up to 4.8.1 wrote, always in documents. */
const DOCUMENT_NAMES = ["_NCZARR_ARRAY", "_NCZARR_GROUP", "_NCZARR_SUPERBLOCK"];

function toAttributes({ path, metadata }: ConventionNode): ConventionNode {
  const own = ownNames(metadata.extra);
  const others = Object.entries(metadata.extra?.json ?? {}).filter(([name]) => !Object.hasOwn(own, name));
  const { extra: _, ...rest } = metadata;
  const changed: NodeMetadata = {
    ...rest,
    attributes: { ...metadata.attributes, ...own },
    ...(others.length > 0 && { extra: { zarrFormat: "v2", json: Object.fromEntries(others) } }),
  };
  if (changed.kind === "group" || changed.dimensionNames !== undefined) return { path, metadata: changed };
  const names = dimensionsOf(own, changed.shape.length);
  return { path, metadata: names ? { ...changed, dimensionNames: names } : changed };
}

/** The NCZarr members of a v2 document. */
function ownNames(extra: Original<JsonObject> | undefined): JsonObject {
  if (extra?.zarrFormat !== "v2") return {};
  const own = Object.entries(extra.json).filter(([name]) => name.toLowerCase().startsWith(PREFIX));
  return Object.fromEntries(own);
}

/** Dimension names from the paths that an array refers to: `/time`, `/group/time`. */
function dimensionsOf(own: JsonObject, rank: number): string[] | undefined {
  const array = member(own, "_NCZARR_ARRAY") ?? member(own, "_nczarr_array");
  const paths = isJsonObject(array)
    ? (member(array, "dimrefs") ?? member(array, "dimension_references"))
    : undefined;
  if (!Array.isArray(paths) || paths.length !== rank || !paths.every(isText)) return undefined;
  return paths.map(lastName);
}

function isText(value: JsonValue): value is string {
  return typeof value === "string";
}

/** Moves the members of older releases back into the document; netCDF-C reads the others among the attributes. */
function toDocument(node: ConventionNode): ConventionNode {
  const { metadata, path } = node;
  const own = DOCUMENT_NAMES.filter((name) => Object.hasOwn(metadata.attributes, name));
  if (own.length === 0) return node;
  const pick = (isOwn: boolean) =>
    Object.fromEntries(Object.entries(metadata.attributes).filter(([name]) => own.includes(name) === isOwn));
  return {
    path,
    metadata: { ...metadata, attributes: pick(false), extra: { zarrFormat: "v2", json: pick(true) } },
  };
}
