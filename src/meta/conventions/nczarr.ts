import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import { lastName } from "../../util/node-path.ts";
import type { NodeMetadata, Original } from "../array-metadata.ts";
import { isObject, member } from "../assert-json.ts";
import type { Convention, ConventionNode } from "./convention.ts";
import { followNcZarr } from "./nczarr-grid.ts";
import { PREFIX } from "./nczarr-shuffle.ts";

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
          message: `${names.join(", ")} of NCZarr ${names.length === 1 ? "becomes an attribute" : "become attributes"}, where netCDF-C stores ${names.length === 1 ? "it" : "them"} since 4.9.3`,
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
  const paths = isObject(array)
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
