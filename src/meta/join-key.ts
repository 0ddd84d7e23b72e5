/** The key of `name` in the folder of the node at `path`. */
export function joinKey(path: string, name: string): string {
  return path === "" ? name : `${path}/${name}`;
}
