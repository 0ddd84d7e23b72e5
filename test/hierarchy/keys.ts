import { readdirSync } from "node:fs";
import type { Store } from "../../src/stores/store.ts";
import { withRequestLog } from "../../src/stores/with/request-log.ts";
import { isZarrflowError } from "../../src/util/errors.ts";
import { rejection } from "../streams/support.ts";

/** All files and folders below a folder, with a slash behind folders; those of a run under way too. */
export function everythingIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map(
      (entry) =>
        `${entry.parentPath.slice(folder.length + 1)}/${entry.name}`.replace(/^\//, "") +
        (entry.isDirectory() ? "/" : ""),
    )
    .sort();
}

/** The JSON document at a key. */
export async function jsonAt(store: { get(key: string): Promise<Uint8Array | undefined> }, key: string) {
  const bytes = await store.get(key);
  return bytes && JSON.parse(new TextDecoder().decode(bytes));
}

/** The code of the error with which something fails. */
export async function codeOf(failing: Promise<unknown>): Promise<string> {
  const error = await rejection(failing);
  if (isZarrflowError(error)) return error.code;
  throw error;
}

const OPERATIONS = ["get", "size", "list", "set", "delete", "rename"];

/** A store, and the calls of some operations since they were taken last, such as `get a/0`. */
export function logged<S extends Store>(of: S, ...operations: string[]) {
  const calls: string[] = [];
  const store = withRequestLog(of, ({ operation, key }) => {
    if ((operations.length ? operations : OPERATIONS).includes(operation)) calls.push(`${operation} ${key}`);
  }) as unknown as S;
  return { store, taken: () => calls.splice(0) };
}
