import type { ZarrNode } from "../../hierarchy/node.ts";
import type { Store, StoreSpec } from "../../stores/store.ts";
import { machineFiles, objectPlace } from "../../stores/store-spec.ts";
import { absolutePath } from "../../stores/url/local-path.ts";
import { ZarrflowError } from "../../util/errors.ts";

/**
 * Asserts that neither source nor target is inside the other. Compares folders (with symbolic links resolved),
 * prefixes of a bucket, and paths in one store object.
 *
 * @throws `target-inside-source`
 */
export async function assertApart(
  { store, spec, path }: Pick<ZarrNode, "store" | "spec" | "path">,
  target: StoreSpec,
): Promise<void> {
  const places =
    folders(spec, target) ?? prefixes(spec, path, target) ?? inOneStore(store, spec, path, target);
  if (places === undefined) return;
  const [from, to] = await Promise.all(places);
  if (from === to) throw notApart("the target is the source", to);
  if (contains(from, to)) throw notApart("the target is inside its source", to);
  if (contains(to, from)) throw notApart("the source is inside the target, which would be replaced", to);
}

type Places = readonly [string | Promise<string>, string | Promise<string>];

function folders(source: StoreSpec, target: StoreSpec): Places | undefined {
  const to = "path" in target ? target.path : folderOf(target);
  const from = "path" in source ? source.path : folderOf(source);
  return from === undefined || to === undefined
    ? undefined
    : [machineFiles().realPath(from), machineFiles().realPath(to)];
}

/** Compares buckets by name only: all S3 URLs use the one server that the environment names. */
function prefixes(source: StoreSpec, path: string, target: StoreSpec): Places | undefined {
  if (source.kind !== "s3" || target.kind !== "s3" || source.bucket !== target.bucket) return undefined;
  return [absolutePath(`/${source.prefix}/${path}`), absolutePath(`/${target.prefix}`)];
}

function inOneStore(store: Store, source: StoreSpec, path: string, target: StoreSpec): Places | undefined {
  const place = objectPlace(target);
  const isOne = place !== undefined && place.root === (objectPlace(source)?.root ?? store);
  return isOne ? [absolutePath(`/${path}`), absolutePath(`/${place.path}`)] : undefined;
}

/** The folder on disk of a store object, if it has one. */
function folderOf(spec: StoreSpec): string | undefined {
  const place = objectPlace(spec);
  return place?.root.folder === undefined ? undefined : `${place.root.folder}/${place.path}`;
}

function notApart(reason: string, value: string): ZarrflowError {
  return new ZarrflowError("target-inside-source", reason, {
    value,
    hint: "Choose a target beside the source.",
  });
}

function contains(outer: string, inner: string): boolean {
  return inner.startsWith(outer.endsWith("/") ? outer : `${outer}/`);
}
