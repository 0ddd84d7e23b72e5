import { readFileSync } from "node:fs";
import type { CorpusCase } from "./corpus-case.ts";
import type { LegacyCase } from "./legacy-case.ts";
import { hasShared, shared } from "./shared.ts";
import type { FeaturedCase } from "./tally.ts";

export const CORPUS = `${shared}corpus/`;
export const LEGACY_CORPUS = `${shared}corpus-legacy/`;

/** Stores of real writers, and ones broken on purpose. */
export const corpusCases = listed<CorpusCase>(CORPUS, "cases");

/** Stores of formats that are no longer written. */
export const legacyCases = listed<LegacyCase>(LEGACY_CORPUS, "entries");

function listed<T extends FeaturedCase>(folder: string, list: string): readonly T[] {
  return hasShared ? JSON.parse(readFileSync(`${folder}manifest.json`, "utf8"))[list] : [];
}
