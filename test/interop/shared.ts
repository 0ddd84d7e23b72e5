import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of fixtures beside the repository; CI insists that it is there. */
export const shared = fileURLToPath(new URL("../../../shared/", import.meta.url));

export const hasShared = existsSync(`${shared}corpus/manifest.json`);

if (!hasShared && process.env.REQUIRE_SHARED === "1") {
  throw new Error(`REQUIRE_SHARED is set, but there are no fixtures at ${shared}`);
}
