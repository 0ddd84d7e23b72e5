import type { Encoders } from "../flows/jobs/plan-file.ts";
import { packageVersion } from "./version.ts";

/** Those of this process. */
export function encodersHere(): Encoders {
  return { zarrflow: packageVersion(), zlib: process.versions.zlib ?? "" };
}
