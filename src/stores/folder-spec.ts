import { keepPrivateAccess } from "./remote/private-access.ts";
import type { StoreSpec } from "./store.ts";

/** Returns the folder that contains the root of a store, and the root's name in it; undefined without a parent. */
export function parentSpec(spec: StoreSpec): { readonly spec: StoreSpec; readonly name: string } | undefined {
  if (spec.kind === "directory") {
    const slash = spec.path.lastIndexOf("/");
    const name = spec.path.slice(slash + 1);
    if (name === "" || slash < 0) return undefined;
    const path = spec.path.slice(0, slash);
    return { spec: { ...spec, path: /^(?:[a-z]:)?$/i.test(path) ? `${path}/` : path }, name };
  }
  if (spec.kind === "http") {
    const [, url, name] = /^([^/]+:\/\/[^/]+(?:\/.*)?)\/([^/]+)$/.exec(spec.url) ?? [];
    return url && name ? { spec: keepPrivateAccess(spec, { ...spec, url }), name: decoded(name) } : undefined;
  }
  if (spec.kind === "s3" && spec.prefix !== "") {
    const slash = spec.prefix.lastIndexOf("/");
    const prefix = spec.prefix.slice(0, Math.max(0, slash));
    return { spec: keepPrivateAccess(spec, { ...spec, prefix }), name: spec.prefix.slice(slash + 1) };
  }
  return undefined;
}

/** Returns the spec of the folder at `path` as the root of its own store; undefined if no spec can name it. */
export function childSpec(spec: StoreSpec, path: string): StoreSpec | undefined {
  if (path === "") return spec;
  if (spec.kind === "directory") return { ...spec, path: `${spec.path.replace(/\/$/, "")}/${path}` };
  if (spec.kind === "http") {
    const url = [spec.url, ...path.split("/").map(encodeURIComponent)].join("/");
    return keepPrivateAccess(spec, { ...spec, url });
  }
  if (spec.kind === "s3") {
    const prefix = [spec.prefix, path].filter(Boolean).join("/");
    return keepPrivateAccess(spec, { ...spec, prefix });
  }
  return undefined;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // percent signs that do not encode a character
  }
}
