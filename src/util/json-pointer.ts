/** Names and indices from the document's root down to one value. */
export type JsonPath = readonly (string | number)[];

/** Appends `token` to `pointer` (RFC 6901). */
export function pointerTo(pointer: string, token: string | number): string {
  return `${pointer}/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

export function pointerOf(path: JsonPath): string {
  return path.reduce<string>(pointerTo, "");
}
