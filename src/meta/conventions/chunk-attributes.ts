import { finiteNumber, type JsonObject, type JsonValue } from "../../util/json-value.ts";
import type { ArrayMetadata } from "../array-metadata.ts";
import { isJsonObject, member } from "../assert-json.ts";
import { type Convention, isArray, withAttributes } from "./convention.ts";

/** Attributes that repeat the chunk shape: those of THREDDS and OPeNDAP, and xarray's encoding. */
const NAMES = ["_ChunkSizes", "chunks", "preferred_chunks", "chunksizes"];

/**
 * Attributes that repeat the chunk shape of their array. They are updated if they matched the old chunk shape;
 * otherwise they mean something else and are left alone.
 */
export const chunkAttributes: Convention = {
  name: "chunk attributes",
  follow(nodes) {
    return nodes.map((node) => {
      const { attributes } = node.metadata;
      const before = node.from.metadata;
      const names = NAMES.filter((name) => member(attributes, name) !== undefined);
      if (names.length === 0 || !isArray(node) || before.kind === "group") return node;
      const [old, now] = [grids(before), grids(node.metadata)];
      const next: JsonObject = { ...attributes };
      for (const name of names) {
        const value = attributes[name];
        const which = old.findIndex((shape) => says(value, shape, before));
        const shape = now[which] ?? now[0];
        if (which < 0 || shape === undefined || `${shape}` === `${old[which]}`) continue;
        next[name] = stated(value, shape, node.metadata);
      }
      const isSame = names.every((name) => next[name] === attributes[name]);
      return isSame ? node : withAttributes(node, next);
    });
  },
};

/** Chunk shapes that an attribute may repeat: inner chunks first, then stored chunks. */
function grids({ chunkGrid: { chunkShape, innerChunkShape } }: ArrayMetadata): (readonly number[])[] {
  return innerChunkShape ? [innerChunkShape, chunkShape] : [chunkShape];
}

function says(value: JsonValue | undefined, shape: readonly number[], metadata: ArrayMetadata): boolean {
  if (isJsonObject(value)) {
    const names = metadata.dimensionNames ?? [];
    const sizes = Object.entries(value).map(
      ([name, size]) => [names.indexOf(name), finiteNumber(size)] as const,
    );
    return sizes.length > 0 && sizes.every(([d, size]) => size !== undefined && shape[d] === size);
  }
  const list = Array.isArray(value) ? value : [value ?? null];
  return list.length === shape.length && list.every((size, d) => finiteNumber(size) === shape[d]);
}

function stated(value: JsonValue | undefined, shape: readonly number[], metadata: ArrayMetadata): JsonValue {
  if (isJsonObject(value)) {
    const names = metadata.dimensionNames ?? [];
    return Object.fromEntries(
      Object.keys(value).map((name): [string, JsonValue] => [name, shape[names.indexOf(name)] ?? null]),
    );
  }
  return Array.isArray(value) ? [...shape] : (shape[0] ?? null);
}
