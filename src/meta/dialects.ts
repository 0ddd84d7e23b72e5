import { ZarrflowError } from "../util/errors.ts";
import type { DialectName } from "./array-metadata.ts";
import type { Dialect } from "./dialect.ts";
import { type V2Options, v2Dialect } from "./v2.ts";
import { v3 } from "./v3.ts";

/** What a dialect leaves open to its reader. */
export interface DialectOptions {
  readonly v2?: V2Options;
}

/** @throws `unsupported-format` for a dialect that is not here yet. */
export function dialectNamed(name: DialectName, options: DialectOptions = {}): Dialect {
  if (name === "v2") return v2Dialect(options.v2);
  if (name === "v3") return v3;
  throw new ZarrflowError("unsupported-format", `Zarr ${name} cannot be read or written yet`, {
    format: name,
  });
}
