import { describe, expect, it } from "vitest";
import * as streams from "../../src/streams/index.ts";

describe("zarrflow/streams", () => {
  it("gives the stages and what bounds them, and nothing by accident", () => {
    expect(Object.keys(streams).sort()).toEqual([
      "BufferPool",
      "ByteBudget",
      "codecStream",
      "decodeChunks",
      "denseData",
      "encodeChunks",
      "mapConcurrent",
      "readChunks",
      "regrid",
      "reorder",
      "writeChunks",
    ]);
  });
});
