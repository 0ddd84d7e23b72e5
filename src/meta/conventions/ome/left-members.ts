import type { JsonObject, JsonValue } from "../../../util/json-value.ts";
import { folderOf } from "../../../util/node-path.ts";
import { isObject, member } from "../../assert-json.ts";
import { joinKey } from "../../join-key.ts";
import { type ChangedNode, type GridChange, isArray, withAttributes } from "../convention.ts";
import { OME, objectsIn, omeOf } from "./attributes.ts";

/**
 * Removes members that are not in the target from lists: wells of a plate, images of a well, series, labels, and
 * levels of images. Rows and columns of a plate stay: they are positions, which may be empty.
 */
export function listsOfMembers(nodes: readonly ChangedNode[], change: GridChange): readonly ChangedNode[] {
  return nodes.map((node) => {
    const ome = isArray(node) ? undefined : omeOf(node.metadata.attributes);
    if (ome === undefined) return node;
    const now = new MemberLists(node, change).without(ome.metadata);
    if (now === ome.metadata) return node;
    const { attributes } = node.metadata;
    return withAttributes(node, ome.metadata === attributes ? now : { ...attributes, [OME]: now });
  });
}

class MemberLists {
  readonly #node: ChangedNode;
  readonly #change: GridChange;

  constructor(node: ChangedNode, change: GridChange) {
    this.#node = node;
    this.#change = change;
  }

  without(metadata: JsonObject): JsonObject {
    const { path } = this.#node;
    const above = folderOf(path);
    const changed = {
      ...this.#inside(metadata, "plate", "wells"),
      ...this.#inside(metadata, "well", "images"),
      ...this.#listed(metadata, "labels", path),
      ...this.#listed(metadata, "series", above),
      ...this.#levels(metadata),
    };
    return Object.keys(changed).length > 0 ? { ...metadata, ...changed } : metadata;
  }

  /** Filters a list in an object: `plate.wells`. */
  #inside(metadata: JsonObject, name: string, list: string): JsonObject {
    const object = member(metadata, name);
    if (!isObject(object)) return {};
    const changed = this.#listed(object, list, this.#node.path, `${name}.${list}`);
    return changed[list] === undefined ? {} : { [name]: { ...object, ...changed } };
  }

  /** Filters the levels of images, and removes images without levels. */
  #levels(metadata: JsonObject): JsonObject {
    const images = objectsIn(member(metadata, "multiscales"));
    const next = images.map((image) => {
      const changed = this.#listed(image, "datasets", this.#node.path, "multiscales.datasets");
      return changed.datasets === undefined ? image : { ...image, ...changed };
    });
    if (next.every((image, i) => image === images[i])) return {};
    return { multiscales: next.filter((image) => objectsIn(member(image, "datasets")).length > 0) };
  }

  /** Filters a list of paths, or of objects with a `path`, below a group. Returns `{}` if nothing changes. */
  #listed(object: JsonObject, name: string, group: string, named = name): JsonObject {
    const list = member(object, name);
    if (!Array.isArray(list)) return {};
    const left: JsonValue[] = [];
    const gone: string[] = [];
    for (const one of list) {
      const path = pathOf(one);
      if (path !== undefined && this.#change.isGone(joinKey(group, path))) gone.push(path);
      else left.push(one);
    }
    if (gone.length === 0) return {};
    const first = gone.slice(0, MAX_NAMED).join(", ");
    const more = gone.length > MAX_NAMED ? ` and ${gone.length - MAX_NAMED} more` : "";
    this.#change.note(
      this.#node,
      `\`${named}\`: ${first}${more} left out: ${gone.length === 1 ? "it is" : "they are"} not in the target`,
    );
    return { [name]: left };
  }
}

/** The most members that a note lists. */
const MAX_NAMED = 3;

function pathOf(entry: JsonValue): string | undefined {
  const path = isObject(entry) ? member(entry, "path") : entry;
  return typeof path === "string" ? path : undefined;
}
