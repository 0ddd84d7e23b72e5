import { describe } from "vitest";
import { testCoverage } from "./coverage.ts";
import { SPEC_ITEMS } from "./items.ts";
import { testRows } from "./rows.ts";
import { codecRows } from "./v3-final/codecs.ts";
import { dataTypeRows } from "./v3-final/data-types.ts";
import { documentRows } from "./v3-final/documents.ts";
import { hierarchyRows } from "./v3-final/hierarchy.ts";

const rows = [...documentRows, ...dataTypeRows, ...codecRows, ...hierarchyRows];

describe("Zarr v3", () => {
  testRows(rows);
  testCoverage(SPEC_ITEMS["v3-final"], {
    rows,
    untestable: {},
  });
});
