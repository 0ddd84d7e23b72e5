import type { JsonValue } from "../../../util/json-value.ts";
import { otherNames } from "../../documents.ts";
import { type Convention, isArray, withAttributes } from "../convention.ts";
import { axisChange, isSameAxis } from "../geo/raster-change.ts";

/** Attributes that make an array's items indices or counts along named dimensions (CF, sections 8.2 and 9.3). */
const NAMES = ["compress", "sample_dimension", "instance_dimension"];

/**
 * Compression by gathering, and ragged arrays. Their items refer to dimensions that may belong to no array. Items are
 * not rewritten, so the attribute is removed if such a dimension is cut.
 */
export const ragged: Convention = {
  name: "CF gathering and ragged arrays",
  follow(nodes, change) {
    const having = nodes.filter(({ metadata: { attributes } }) =>
      NAMES.some((name) => Object.hasOwn(attributes, name)),
    );
    if (having.length === 0) return nodes;
    const [changed, cut] = [new Set<string | null>(), new Set<string | null>()];
    for (const array of nodes.filter(isArray)) {
      for (const [d, name] of (array.metadata.dimensionNames ?? []).entries()) {
        const axis = axisChange(array, d);
        if (axis === undefined || isSameAxis(axis)) continue;
        changed.add(name);
        // appending items changes neither counts nor indices along one dimension
        if (!isSameAxis({ ...axis, after: Math.min(axis.before, axis.after) })) cut.add(name);
      }
    }
    return nodes.map((node) => {
      if (!isArray(node) || !having.includes(node)) return node;
      const { attributes, dimensionNames = [] } = node.metadata;
      const lost = NAMES.filter((name) => {
        const isUntrue = (dimension: string) => (name === "compress" ? changed : cut).has(dimension);
        const own = name === "sample_dimension" ? dimensionNames.filter((one) => one !== null) : [];
        return [...wordsIn(attributes[name]), ...(Object.hasOwn(attributes, name) ? own : [])].some(isUntrue);
      });
      if (lost.length === 0) return node;
      change.note(
        node,
        `${lost.map((name) => `\`${name}\``).join(", ")} dropped: items of this array are indices along a sliced dimension`,
        "Decode the data set first, or slice along other dimensions.",
      );
      return withAttributes(node, otherNames(attributes, lost));
    });
  },
};

function wordsIn(value: JsonValue | undefined): string[] {
  return typeof value === "string" ? value.split(/\s+/).filter((word) => word !== "") : [];
}
