import { accessedBy, type StoreAccess } from "../../stores/access.ts";
import { assertPlace, textOfUrl } from "../../stores/assertions.ts";
import { childSpec } from "../../stores/folder-spec.ts";
import { specOfObject } from "../../stores/object-spec.ts";
import type { Store, StoreSpec } from "../../stores/store.ts";
import { parseStoreUrl } from "../../stores/url.ts";
import { toStore, type ZarritaStore } from "../../stores/with/zarrita.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { normalisePath } from "../../util/node-path.ts";
import type { NodeSpec } from "../plan/plan.ts";
import type { Changes } from "../request/changes.ts";

/**
 * The place a flow writes to: a URL; a store of zarrflow or zarrita, or a path in one, where values are visible as
 * soon as they are written; or a store spec and a path, as JSON.
 */
export type FlowTarget =
  | string
  | URL
  | Store
  | ZarritaStore
  | { readonly store: Store | ZarritaStore; readonly path: string }
  | { readonly spec: StoreSpec; readonly path: string };

/** Returns the spec of the target's store with the options of `access`, and the path of the node in it. */
export function targetSpec(to: FlowTarget, access: StoreAccess): NodeSpec {
  assertPlace(to, "target");
  const target = textOfUrl(to);
  if (typeof target === "string") {
    const { spec: store, path } = parseStoreUrl(target);
    return { store: accessedBy(store, access), path };
  }
  if ("get" in target) return { store: specOfObject(toStore(target)), path: "" };
  if ("store" in target) {
    return { store: specOfObject(toStore(target.store), normalisePath(target.path)), path: "" };
  }
  const path = normalisePath(target.path);
  const spec = accessedBy(target.spec, access);
  const inside = childSpec(spec, path);
  return inside ? { store: inside, path: "" } : { store: spec, path };
}

/** Adds the format that the target's URL names to the options. @throws `invalid-option` if they name another one. */
export function withFormatOf<O extends Pick<Changes, "to">>(to: FlowTarget, options: O): O {
  const target = textOfUrl(to);
  const zarrFormat = typeof target === "string" ? parseStoreUrl(target).zarrFormat : undefined;
  if (zarrFormat === undefined || options.to === zarrFormat) return options;
  if (options.to === undefined) return { ...options, to: zarrFormat };
  throw new ZarrflowError("invalid-option", "the target's URL names another format than the one requested", {
    expected: options.to,
    found: zarrFormat,
  });
}
