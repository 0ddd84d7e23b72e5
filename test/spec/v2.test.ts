import { describe } from "vitest";
import { testCoverage } from "./coverage.ts";
import { SPEC_ITEMS } from "./items.ts";
import { testRows } from "./rows.ts";
import { chunkRows } from "./v2/chunks.ts";
import { documentRows } from "./v2/documents.ts";
import { exampleRows } from "./v2/examples.ts";
import { fillRows } from "./v2/fill-values.ts";
import { hierarchyRows } from "./v2/hierarchy.ts";
import { storeRows } from "./v2/stores.ts";

const rows = [...documentRows, ...fillRows, ...chunkRows, ...hierarchyRows, ...storeRows, ...exampleRows];

describe("Zarr v2", () => {
  testRows(rows);
  testCoverage(SPEC_ITEMS.v2, {
    rows,
    untestable: {},
  });
});
