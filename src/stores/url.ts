import { throwIfAborted } from "../util/abort.ts";
import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { assertKnown, type OptionNames } from "../util/options.ts";
import { loadStreams } from "../util/web-streams.ts";
import { HttpStore } from "./http.ts";
import { privateAccessOf } from "./remote/private-access.ts";
import type { Store, StoreOptions, StoreSpec } from "./store.ts";
import { machineFiles, objectPlace } from "./store-spec.ts";
import { markNativeStore } from "./store-traits.ts";

export type { StoreAccess } from "./access.ts";
export type { FoundFormat, StoreUrl } from "./url/parse-url.ts";
export { parseStoreUrl } from "./url/parse-url.ts";

export interface OpenStoreOptions extends StoreOptions {
  /** See `DirectoryStoreOptions`. */
  readonly exclusive?: boolean | undefined;
}

const OPEN_STORE_OPTIONS: OptionNames<OpenStoreOptions> = {
  exclusive: true,
  signal: true,
};

/**
 * Opens the store that `spec` names. A missing directory is a store without keys.
 *
 * @throws `not-found` if there is no zip or no memory store, `corrupt-store` for a broken zip, `invalid-option`
 *   for an object of another process.
 */
export async function openStore(spec: StoreSpec, options: OpenStoreOptions = {}): Promise<Store> {
  assertKnown(options, OPEN_STORE_OPTIONS);
  throwIfAborted(options.signal);
  await loadStreams();
  const store = await openKind(spec, options);
  markNativeStore(store);
  if (spec.kind !== "object") specs.set(store, spec);
  return store;
}

/** Like `openStore`, but undefined if there is no zip or no memory store. */
export async function openStoreIfThere(
  spec: StoreSpec,
  options: OpenStoreOptions = {},
): Promise<Store | undefined> {
  try {
    return await openStore(spec, options);
  } catch (error) {
    if (isZarrflowError(error, "not-found")) return undefined;
    throw error;
  }
}

/** The spec by which each store was opened. */
const specs = new WeakMap<Store, StoreSpec>();

/**
 * Returns the spec that opens the same store again; undefined for a store that was not opened by a spec or has
 * been wrapped since.
 */
export function specOf(store: Store): StoreSpec | undefined {
  return specs.get(store);
}

async function openKind(spec: StoreSpec, { exclusive, signal }: OpenStoreOptions): Promise<Store> {
  switch (spec.kind) {
    case "directory": {
      const { path, fsync, shared } = spec;
      const how = shared ? { shared } : exclusive ? { exclusive } : {};
      return machineFiles().openDirectory(path, { ...how, ...(fsync && { fsync }) });
    }
    case "zip": {
      const { openZipFile } = await import("./zip.ts");
      return openZipFile(spec.path, { signal });
    }
    case "zip-value": {
      const { openZipValue } = await import("./zip.ts");
      return openZipValue(await openStore(spec.store, { signal }), spec.key, { signal });
    }
    case "http":
      return openWebServer(spec);
    case "s3":
      return (await import("./s3/open-s3.ts")).openS3(spec);
    case "memory": {
      const { namedMemoryStore } = await import("./memory.ts");
      const store = namedMemoryStore(spec.name);
      if (store !== undefined) return store;
      throw new ZarrflowError("not-found", `memory:${spec.name} does not exist in this process`, {
        hint: "A store in memory exists only in the process that created it; commands read folders, zips and URLs.",
      });
    }
    case "object": {
      const place = objectPlace(spec);
      if (place !== undefined) return place.store;
      throw new ZarrflowError("invalid-option", "a store object of another process cannot be opened", {
        store: spec.description,
      });
    }
    default:
      throw new ZarrflowError("invalid-option", "this is not the spec of a store", {
        value: JSON.stringify(spec),
      });
  }
}

/** @throws `access-denied` for a saved spec whose query or headers are not given again. */
function openWebServer(spec: Extract<StoreSpec, { readonly kind: "http" }>): Store {
  const { url, missing403, retry, hasQuery, hasHeaders } = spec;
  const { beforeRequest, fetch, headers, query } = privateAccessOf(spec);
  if (hasQuery && !query) {
    throw lacking(url, "the query of the URL, such as a token,", "`query`, --query or ZARRFLOW_QUERY");
  }
  if (hasHeaders && !headers) {
    throw lacking(url, "the headers of the requests", "`headers`, --header or ZARRFLOW_HEADERS");
  }
  return new HttpStore(query ? `${url}?${query}` : url, {
    ...(missing403 && { missing403 }),
    ...(headers && { headers }),
    ...(beforeRequest && { beforeRequest }),
    fetch,
    retry,
  });
}

function lacking(store: string, secret: string, options: string): ZarrflowError {
  return new ZarrflowError("access-denied", `${secret} must be passed again`, {
    store,
    hint: `Plans and specs contain no credentials. Pass them with ${options}.`,
  });
}
