import { expect, test } from "vitest";
import { planFlow } from "../../src/flows/request/flow.ts";
import { openArray } from "../../src/hierarchy/open/open.ts";
import { makeArray } from "../support/made-array.ts";

test.each(["zstd:99", "gzip:11"] as const)(
  "a level that the codec does not have is a wrong option: %s",
  async (codec) => {
    const { store } = await makeArray({
      shape: [4],
      chunks: [2],
      order: "C",
      itemSize: 1,
      missing: 0,
      seed: 1,
    });
    const plan = planFlow(await openArray(store), "memory:level", { codec });
    await expect(plan).rejects.toMatchObject({
      code: "invalid-option",
      details: { setting: "level", found: codec.split(":")[1] },
    });
  },
);
