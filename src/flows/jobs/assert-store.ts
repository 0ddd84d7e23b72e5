import { isKey } from "../../stores/key.ts";
import { BUCKET } from "../../stores/s3/s3-failure.ts";
import type { StoreSpec } from "../../stores/store.ts";
import { isObject, isRetry } from "../../util/check-options.ts";

/** Absolute paths on any system. */
export const STORED_ABSOLUTE = /^(?:\/|[A-Za-z]:[/\\]|\\\\)/;

/** True if a value from a file specifies a store that any process can open, without credentials. */
export function isStoreSpec(value: unknown, depth = 0): value is StoreSpec {
  if (!isObject(value)) return false;
  const { kind, path, store, key, url, bucket, prefix, retry, ...flags } = value as Fields;
  if (retry !== undefined && !isRetry(retry)) return false;
  if (!Object.values(flags).every((flag) => typeof flag === "boolean")) return false;
  if (kind === "directory" || kind === "zip") return typeof path === "string" && isPlainPath(path);
  if (kind === "zip-value") return depth < 2 && isText(key) && isKey(key) && isStoreSpec(store, depth + 1);
  if (kind === "http") return isText(url) && isPlainUrl(url);
  if (kind !== "s3" || !isText(bucket) || !BUCKET.test(bucket)) return false;
  return prefix === "" || (isText(prefix) && isKey(prefix));
}

type Fields = { readonly [name: string]: unknown };

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isPlainPath(path: string): boolean {
  return STORED_ABSOLUTE.test(path) && !path.includes("\0") && !path.split(/[/\\]/).includes("..");
}

function isPlainUrl(text: string): boolean {
  try {
    const { protocol, username, password } = new URL(text);
    return /^https?:$/.test(protocol) && username === "" && password === "";
  } catch {
    return false;
  }
}
