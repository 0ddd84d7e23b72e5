// @module-tag tools
import { describe, expect, it } from "vitest";
import { equal } from "../interop/compare.ts";
import { corpusCases, legacyCases } from "../interop/corpora.ts";
import { EXCEPTIONS } from "../interop/exceptions.ts";
import { hasShared, shared } from "../interop/shared.ts";
import { describeInBrowsers } from "./browsers.ts";
import { bundlePage } from "./bundle-page.ts";
import { openPageOf } from "./open-page.ts";

/** An array, or a part of one, and what it holds by a manifest. */
interface Reading {
  readonly id: string;
  /** Below the folder of fixtures, as it is in a URL. */
  readonly place: string;
  readonly options?: object;
  readonly selection?: unknown;
  readonly sha256?: string;
  /** Each of these lists is right. */
  readonly values?: readonly (readonly unknown[])[];
}

type Found = { readonly sha256: string } | { readonly values: string } | { readonly message: string };

const NESTED = { v2: { separator: "/" } };

const placeOf = (...parts: readonly string[]) =>
  parts.flatMap((part) => part.split("/").filter(Boolean).map(encodeURIComponent)).join("/");

/** Every good case of the corpus: arrays, their slices, and the arrays of hierarchies. */
function* readingsOfCorpus(): Generator<Reading> {
  for (const one of corpusCases) {
    if (one.error !== undefined) continue;
    const { id, path, array, group, sha256, values, also_accept_values: others = [] } = one;
    const format = path.includes("both-formats") ? `|zarr${one.zarr_format}:` : "";
    const place = `${placeOf("corpus", path, array ?? "")}${format}`;
    const options = one.store === "nested-directory" ? NESTED : {};
    if (sha256) yield { id, place, options, sha256 };
    if (one.slice_sha256) {
      yield { id: `${id} slice`, place, options, selection: one.slice, sha256: one.slice_sha256 };
    }
    if (values && !one.undefined_fill)
      yield { id: `${id} values`, place, options, values: [values, ...others] };
    for (const node of one.nodes ?? []) {
      const below = placeOf("corpus", path, group ?? "", node.path);
      if (node.sha256) yield { id: `${id} ${node.path}`, place: below, options, sha256: node.sha256 };
    }
  }
}

/** Every good case of the formats that are no longer written. */
function* readingsOfLegacy(): Generator<Reading> {
  for (const one of legacyCases) {
    const { id, path, array_path, selection, sha256, values } = one;
    if (one.error || one.kind !== "array") continue;
    const place = placeOf("corpus-legacy", path, array_path);
    const options = one.store === "nested-directory" ? NESTED : {};
    if (sha256) yield { id, place, options, selection, sha256 };
    if (values) yield { id: `${id} values`, place, options, selection, values: [values] };
  }
}

describe.runIf(hasShared)("both corpora over HTTP", () => {
  describeInBrowsers("each good case", (browser, browserName) => {
    it.each([
      ["corpus", readingsOfCorpus],
      ["corpus-legacy", readingsOfLegacy],
    ] as const)(
      "of %s is read as its manifest says",
      async (name, readings) => {
        const all = [...readings()].filter(
          ({ id }) => !EXCEPTIONS.some((one) => one.id.test(id.split(" ")[0] ?? "")),
        );
        const page = await openPageOf(browser(), await bundlePage("read-cases.mjs"), {
          folder: shared,
          mayFailToLoad: true,
        });
        const cases = all.map(({ place, options, selection, values }) => ({
          url: new URL(place, page.url()).href.replace(/%7C/g, "|"),
          options,
          selection,
          withValues: values !== undefined,
        }));
        const found = await page.evaluate<readonly Found[]>(`readCases(${JSON.stringify(cases)})`);
        const wrong = all.flatMap((reading, i) => {
          const outcome = found[i];
          return outcome && isRight(reading, outcome) ? [] : [{ id: reading.id, outcome }];
        });
        console.log(
          `${name} in ${browserName} ${browser().version()}: ${all.length - wrong.length} of ${all.length} readings of ${new Set(all.map(({ id }) => id.split(" ")[0])).size} good cases right`,
        );
        expect(wrong).toEqual([]);
        expect(all.length).toBeGreaterThan(100);
      },
      300_000,
    );
  });
});

function isRight({ sha256, values = [] }: Reading, found: Found): boolean {
  if ("sha256" in found) return found.sha256 === sha256;
  return "values" in found && values.some((list) => equal(JSON.parse(found.values), list));
}
