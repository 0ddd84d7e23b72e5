import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of fixtures beside the repository; CI insists that it is there. */
export const shared = fileURLToPath(new URL("../../../shared/", import.meta.url));

export const hasShared = existsSync(`${shared}corpus/manifest.json`);

if (!hasShared && process.env.REQUIRE_SHARED === "1") {
  throw new Error(`REQUIRE_SHARED is set, but there are no fixtures at ${shared}`);
}

/** The digests that the arrays of a set of real data are known to have, by path. */
export function knownDigests(name: string): Record<string, string> {
  const text = readFileSync(`${shared}data/sha256.json`, "utf8");
  const known = Object.entries(JSON.parse(text) as Record<string, { readonly sha256: string }>);
  const ours = known.filter(([array]) => array.startsWith(`${name}#`));
  return Object.fromEntries(ours.map(([array, { sha256 }]) => [array.slice(name.length + 1), sha256]));
}
