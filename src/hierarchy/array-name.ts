import type { ZarrArray } from "./node.ts";

/** The location of an array, independent of the place where its store was opened. */
export function placeOf({ path, spec }: ZarrArray): string {
  const { kind } = spec;
  const root =
    kind === "directory"
      ? spec.path
      : kind === "http"
        ? spec.url
        : kind === "s3"
          ? `${spec.bucket}/${spec.prefix}`
          : JSON.stringify(spec);
  return [root.replace(/\/$/, ""), path].filter(Boolean).join("/");
}

/** The name of an array in a file with several arrays, or as a column: the last part of its path. */
export function nameOf(array: ZarrArray): string {
  const { kind } = array.spec;
  const hasName = array.path !== "" || kind === "directory" || kind === "http" || kind === "s3";
  const name = hasName ? placeOf(array).split("/").at(-1) : undefined;
  return name?.replace(/\.zarr$/, "") || "values";
}

/** The name itself, or the name with a number if it is taken. */
export function uniqueName(name: string, taken: ReadonlySet<string>): string {
  let unique = name;
  for (let i = 1; taken.has(unique); i++) unique = `${name}_${i}`;
  return unique;
}
