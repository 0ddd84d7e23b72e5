import type { StoreSpec } from "../../stores/store.ts";
import { printable } from "./printable.ts";

/** The location of a node, as text. */
export function place(store: StoreSpec, path: string): string {
  const root = storeText(store);
  return printable(path === "" ? root : `${root}/${path}`);
}

export function storeText(store: StoreSpec): string {
  switch (store.kind) {
    case "directory":
    case "zip":
      return store.path;
    case "zip-value":
      return `${storeText(store.store)}/${store.key}`;
    case "http":
      return store.url;
    case "s3":
      return `s3://${store.bucket}/${store.prefix}`.replace(/\/$/, "");
    case "memory":
      return `memory:${store.name}`;
    case "object":
      return store.description;
  }
}
