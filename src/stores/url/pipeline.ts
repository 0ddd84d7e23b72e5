import { ZarrflowError } from "../../util/errors.ts";
import { normalisePath } from "../../util/node-path.ts";
import { parentSpec } from "../folder-spec.ts";
import type { StoreSpec } from "../store.ts";
import type { FoundFormat, StoreUrl } from "./store-url.ts";

/** Last stages of a pipeline, such as `x.zip|zip:|zarr3:t2m`; `zarr:` leaves the format open. */
const FORMATS: ReadonlyMap<string, FoundFormat | undefined> = new Map([
  ["zarr", undefined],
  ["zarr1", "v1"],
  ["zarr2", "v2"],
  ["zarr3", "v3"],
  ["zarr3-draft-2019", "v3-draft-2019"],
]);

/**
 * Applies another stage, such as `zip:inner/path` or `zarr3:t2m`, to a URL.
 *
 * @throws `unsupported-operation`
 * @see ZEP 8
 */
export function applyStage({ spec, path, zarrFormat }: StoreUrl, stage: string): StoreUrl {
  const colon = stage.indexOf(":");
  const name = stage.slice(0, colon).toLowerCase();
  const within = normalisePath(stage.slice(colon + 1));
  const zip = zarrFormat === undefined && name === "zip" ? zipOf(spec, path) : undefined;
  if (zip !== undefined) return { spec: zip, path: within };
  if (zarrFormat === undefined && FORMATS.has(name)) {
    const named = FORMATS.get(name);
    const inner = normalisePath(`${path}/${within}`);
    return named === undefined ? { spec, path: inner } : { spec, path: inner, zarrFormat: named };
  }
  throw new ZarrflowError("unsupported-operation", `the stage ${name}: is not known, or not allowed here`, {
    value: stage,
    hint: `Known stages are zip: after the name of a zip, and last ${[...FORMATS.keys()].map((known) => `${known}:`).join(", ")}.`,
  });
}

/** Returns the zip that a stage `zip:` means after a store and a path in it; undefined without one. */
function zipOf(spec: StoreSpec, path: string): StoreSpec | undefined {
  if (path !== "") return zipValue(spec, path);
  if (spec.kind === "directory" || spec.kind === "zip") return { kind: "zip", path: spec.path };
  if (spec.kind === "zip-value") return spec;
  const around = parentSpec(spec);
  return around && zipValue(around.spec, around.name);
}

export function zipValue(store: StoreSpec, key: string): StoreSpec {
  return { kind: "zip-value", store, key };
}

/** @throws `invalid-option` for percent signs that do not encode a character. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new ZarrflowError("invalid-option", "percent signs that do not encode a character", {
      value: segment,
    });
  }
}
