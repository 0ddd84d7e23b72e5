import { type OmeMembers, omeMembers, omeSeries } from "../../meta/conventions/ome/members.ts";
import { joinKey } from "../../meta/join-key.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { ancestorPaths } from "../../util/node-path.ts";
import { sortUtf8 } from "../../util/utf8-order.ts";
import type { ZarrGroup } from "../node.ts";
import { openNode } from "./open-node.ts";

/** Names of a group's members, sorted. The values are paths of nodes below each, as far as a group above names them. */
export type Members = ReadonlyMap<string, readonly string[]>;

/** Maximum depth of a path: an image in a plate has a depth of five. */
const MAX_DEPTH = 32;

/** Maximum number of images in a collection without a list. */
const MAX_NUMBERED = 10_000;

/** True if a group's own metadata name its members. */
export function namesMembers({ metadata }: ZarrGroup): boolean {
  return omeMembers(metadata.attributes) !== undefined;
}

/**
 * Returns the members of a group in a store that cannot list: those named by its metadata, and those named by a group
 * above it.
 *
 * @throws `unsupported-operation` if nothing names the members; `resource-limit` for hostile metadata.
 */
export async function namedMembers(
  group: ZarrGroup,
  named: readonly string[] | undefined,
  signal: AbortSignal | undefined,
): Promise<Members> {
  const { store, path, metadata, documents } = group;
  if (ancestorPaths(path).length > MAX_DEPTH) {
    throw new ZarrflowError("resource-limit", "groups are nested too deep", {
      store: store.description,
      path,
      expected: `at most ${MAX_DEPTH} deep`,
    });
  }
  const own = omeMembers(metadata.attributes);
  const isNamedPath = named !== undefined && documents.size === 0;
  if (own === undefined && !named?.length && !isNamedPath) {
    throw new ZarrflowError("unsupported-operation", "this store cannot list the members of a group", {
      store: store.description,
      path,
      hint: "Give the path of an array inside it.",
    });
  }
  const images = own === undefined ? [] : await imagesOf(group, own, signal);
  return byFirstName([...(named ?? []), ...(own?.paths ?? []), ...images]);
}

/** Returns paths of the images of a collection: those in its series, or the numbered ones. */
async function imagesOf(
  { store, spec, layout, path, reading }: ZarrGroup,
  { seriesIn }: OmeMembers,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  if (seriesIn === undefined) return [];
  const { zarrFormat } = layout;
  const nodeAt = (name: string) =>
    openNode(store, joinKey(path, name), { ...reading, spec, zarrFormat, isInside: true, signal });
  const series = omeSeries((await nodeAt(seriesIn))?.metadata.attributes ?? {});
  if (series) return series;
  const numbered: string[] = [];
  while (numbered.length < MAX_NUMBERED && (await nodeAt(`${numbered.length}`))) {
    numbered.push(`${numbered.length}`);
  }
  return numbered;
}

function byFirstName(paths: readonly string[]): Members {
  const below = new Map<string, string[]>();
  for (const path of paths) {
    const [name = "", ...rest] = path.split("/");
    const known = below.get(name) ?? [];
    if (rest.length > 0) known.push(rest.join("/"));
    below.set(name, known);
  }
  return new Map(sortUtf8([...below.keys()]).map((name) => [name, below.get(name) ?? []]));
}
