import { readdirSync } from "node:fs";

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
