import type { Numbers } from "../../meta/number-kinds.ts";
import type { PlannedMap } from "../../plan/plan.ts";
import { absolutePath, slashed } from "../../stores/url/local-path.ts";
import type { Region } from "../../streams/chunk.ts";
import { toHex } from "../../util/bytes.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { hasher, textHash } from "../../util/hash.ts";
import { invalidOption } from "../../util/options.ts";
import { builtin, isNode, pageUrl } from "../../util/platform.node.ts";

/** The items of one source chunk, as passed to a `map`. */
export interface MappedChunk {
  /**
   * Items of the chunk that are inside the array, in C order, in the typed array of their type: float16 as
   * `Float32Array`, bool as 0 and 1, complex as two numbers per item. 64-bit integers and times are bigints, which this
   * type omits. The items may be changed in place and returned.
   */
  readonly data: Exclude<Numbers, BigInt64Array | BigUint64Array>;
  /** Region of the items in the source array. */
  readonly region: Region;
  /** Coordinates of the chunk in the source's chunk grid, or in the grid of inner chunks if there are shards. */
  readonly coords: readonly number[];
}

/** Numbers that a `map` returns: as many as it was given, in the same order. */
export type MappedValues = ArrayLike<number> | Numbers | readonly (number | bigint | boolean)[];

/**
 * Computes the new values of a chunk. It may be called more than once for a chunk, in any order and concurrently in
 * several threads, and must return the same values each time.
 */
export type ValueMap = (chunk: MappedChunk) => MappedValues | Promise<MappedValues>;

export interface LoadedMap {
  readonly map: ValueMap;
  readonly planned: PlannedMap;
}

const loaded = new Map<string, Promise<LoadedMap>>();

/**
 * Loads a requested map: a function, or a module by its URL or file path.
 *
 * @throws `invalid-option` for a module that cannot be loaded, or whose default export is not a function.
 */
export async function loadMap(option: ValueMap | URL | string): Promise<LoadedMap> {
  if (typeof option === "function") {
    return { map: option, planned: { function: textHash(String(option)) } };
  }
  if (typeof option !== "string" && !(option instanceof URL))
    throw invalidOption("invalid value for the option `map`", "a function, or the URL of a module", option);
  return loadModule(moduleUrl(option));
}

/** Loads the map of a plan. @throws `plan-mismatch` if the module has changed since the plan was made. */
export async function loadPlannedMap(planned: PlannedMap): Promise<ValueMap> {
  if ("function" in planned) {
    throw new ZarrflowError("invalid-option", "`map` is a function in the process that made the plan", {
      hint: 'Pass it as a module, `new URL("./celsius.js", import.meta.url)`, to run it in other processes.',
    });
  }
  const { map, planned: found } = await loadModule(planned.module);
  if ("hash" in found && found.hash !== planned.hash) {
    throw new ZarrflowError("plan-mismatch", "the module of `map` has changed since the plan was made", {
      url: planned.module,
      expected: planned.hash,
      found: found.hash,
      hint: "Restore the module, or make a new plan.",
    });
  }
  return map;
}

function moduleUrl(option: string | URL): string {
  const text = String(option);
  if (/^[a-z][a-z\d+.-]+:/i.test(text)) return text;
  const page = pageUrl(text);
  if (page !== undefined || !isNode) return page ?? text;
  return new URL(encodeURI(absolutePath(slashed(text))).replace(/[?#]/g, encodeURIComponent), "file:///")
    .href;
}

function loadModule(url: string): Promise<LoadedMap> {
  // A file is read again, since it may have changed.
  const known = isFile(url) ? undefined : loaded.get(url);
  if (known) return known;
  const loading = importMap(url).catch((cause: unknown) => {
    loaded.delete(url);
    if (isZarrflowError(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ZarrflowError(
      "invalid-option",
      `the module of \`map\` cannot be loaded: ${reason}`,
      { url, hint: 'Pass the URL of an ES module, such as new URL("./celsius.js", import.meta.url).' },
      { cause },
    );
  });
  if (!isFile(url)) loaded.set(url, loading);
  return loading;
}

/** Imports a module that bundlers do not know about; the comments in the call make them ignore it. */
function importFrom(url: string): Promise<{ readonly default?: unknown }> {
  return import(/* webpackIgnore: true */ /* @vite-ignore */ url);
}

async function importMap(url: string): Promise<LoadedMap> {
  const begin = await hasher();
  const hash = toHex(
    begin()
      .update(await textOf(url))
      .digest(),
  );
  // The hash in the URL reloads a module that has changed since this process imported it.
  const versioned = isFile(url) ? `${url}?${hash}` : url;
  const { default: map } = await importFrom(versioned);
  if (typeof map === "function") return { map: map as ValueMap, planned: { module: url, hash } };
  throw new ZarrflowError("invalid-option", "the default export of the `map` module is not a function", {
    url,
    expected: "export default ({ data, region, coords }) => ...",
    found: map === undefined ? "no default export" : typeof map,
  });
}

function isFile(url: string): boolean {
  return url.startsWith("file:");
}

async function textOf(url: string): Promise<Uint8Array> {
  const files = isFile(url) ? builtin("node:fs") : undefined;
  if (files) return files.readFileSync(new URL(url));
  const response = await fetch(url);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
