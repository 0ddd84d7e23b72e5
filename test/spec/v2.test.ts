import { describe } from "vitest";
import { testCoverage } from "./coverage.ts";
import { SPEC_ITEMS } from "./items.ts";
import { testRows } from "./rows.ts";
import { chunkRows } from "./v2/chunks.ts";
import { documentRows } from "./v2/documents.ts";
import { fillRows } from "./v2/fill-values.ts";
import { hierarchyRows } from "./v2/hierarchy.ts";

const rows = [...documentRows, ...fillRows, ...chunkRows, ...hierarchyRows];

describe("Zarr v2", () => {
  testRows(rows);
  testCoverage(SPEC_ITEMS.v2, {
    rows,
    elsewhere: {
      "V2-80": "test/stores/directory.test.ts",
      "V2-81": "test/flows/nested-directory.test.ts",
      "V2-82": "test/stores/zip/zip-store.test.ts",
      "V2-83": "test/stores/http.test.ts",
      "V2-90": "test/hierarchy/create/create.test.ts",
      "V2-91": "test/hierarchy/create/create.test.ts",
      "V2-92": "test/meta/v2/v2.test.ts",
    },
    untestable: {},
  });
});
