import type { ZarrNode } from "../../hierarchy/node.ts";
import type { Documents } from "../../meta/format.ts";
import { isReservedKey, JOINT_PREFIX } from "../../stores/reserved-names.ts";
import { isListable, type Store, type StoreOptions, type StoreSpec } from "../../stores/store.ts";
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

/**
 * Asserts that no other program changed a target that is written in place. Compares the count and size of its keys,
 * without documents, with what this run and the runs that it resumes have written. A change that keeps both numbers
 * is found only by verification, which reads the values back.
 *
 * @throws `differs`
 */
export async function assertSoleWriter(
  store: Store,
  { keys, bytes }: { readonly keys: number; readonly bytes: number },
  { documents, ...options }: StoreOptions & { readonly documents: Documents },
): Promise<void> {
  if (!isListable(store)) return;
  const found = { keys: 0, bytes: 0 };
  for await (const { key, size } of store.list("", options)) {
    if (documents.has(key) || isReservedKey(key) || key.startsWith(JOINT_PREFIX)) continue;
    found.keys++;
    found.bytes += size ?? (await store.size(key, options)) ?? 0;
  }
  if (found.keys === keys && found.bytes === bytes) return;
  throw new ZarrflowError("differs", "another program changed the target while it was written", {
    store: store.description,
    expected: `${keys} keys of ${bytes} bytes`,
    found: `${found.keys} keys of ${found.bytes} bytes`,
    hint: "Copy again when no other program writes there.",
  });
}
