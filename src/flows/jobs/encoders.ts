import { packageVersion } from "../../util/package-version.node.ts";
import type { Encoders } from "./plan-file.ts";

/** Those of this process. */
export function encodersHere(): Encoders {
  return { zarrflow: packageVersion(), zlib: process.versions.zlib ?? "" };
}
