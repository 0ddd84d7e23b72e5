import { describe } from "vitest";
import { SPEC_ITEMS, testItems } from "./rows.ts";
import { chunkRows } from "./v2/chunks.ts";
import { documentRows, fillRows } from "./v2/documents.ts";
import { exampleRows, hierarchyRows, storeRows } from "./v2/hierarchy.ts";
import * as draft from "./v3-draft-2019/documents.ts";
import { hierarchyRows as draftHierarchyRows } from "./v3-draft-2019/hierarchy.ts";
import { codecRows } from "./v3-final/codecs.ts";
import * as final from "./v3-final/documents.ts";
import { hierarchyRows as finalHierarchyRows } from "./v3-final/hierarchy.ts";

describe("Zarr v2", () => {
  const documents = [...documentRows, ...fillRows, ...chunkRows];
  testItems(SPEC_ITEMS.v2, [...documents, ...hierarchyRows, ...storeRows, ...exampleRows]);
});

describe("the draft of v3 of 2019", () => {
  testItems(SPEC_ITEMS["v3-draft-2019"], [...draft.documentRows, ...draft.chunkRows, ...draftHierarchyRows]);
});

describe("Zarr v3", () => {
  const documents = [...final.documentRows, ...final.dataTypeRows];
  testItems(SPEC_ITEMS["v3-final"], [...documents, ...codecRows, ...finalHierarchyRows]);
});
