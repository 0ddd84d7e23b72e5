import { describe } from "vitest";
import { testCoverage } from "./coverage.ts";
import { SPEC_ITEMS } from "./items.ts";
import { testRows } from "./rows.ts";
import { chunkRows } from "./v3-draft-2019/chunks.ts";
import { documentRows } from "./v3-draft-2019/documents.ts";
import { hierarchyRows } from "./v3-draft-2019/hierarchy.ts";

const rows = [...documentRows, ...chunkRows, ...hierarchyRows];

describe("the draft of v3 of 2019", () => {
  testRows(rows);
  testCoverage(SPEC_ITEMS["v3-draft-2019"], {
    rows,
    untestable: {},
  });
});
