// @module-tag sampled
// @module-tag slow
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  create,
  createGroup,
  deleteNode,
  isZarrflowError,
  open,
  renameNode,
  resizeArray,
  setAttributes,
} from "../../src/index.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { ListableStore, WritableStore } from "../../src/stores/store.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { keysOf } from "../support/consume.ts";
import { samples } from "../support/samples.ts";
import { expectTrueConsolidation } from "./fresh-consolidation.ts";
import { jsonAt } from "./keys.ts";

const folder = temporaryFolder();

type TestedStore = WritableStore & ListableStore;

const ACTS = [
  "create",
  "replace",
  "group",
  "consolidate",
  "delete",
  "rename",
  "attributes",
  "resize",
] as const;

interface Step {
  readonly act: (typeof ACTS)[number];
  readonly path: string;
  readonly to: string;
  readonly value: number;
}

const path = fc
  .array(fc.constantFrom("a", "b", "g"), { minLength: 1, maxLength: 3 })
  .map((names) => names.join("/"));
const OFTEN: readonly string[] = ["create", "rename"];
const act = fc.constantFrom(...ACTS.flatMap((one) => (OFTEN.includes(one) ? [one, one] : [one])));
const steps = fc.array(fc.record<Step>({ act, path, to: path, value: fc.nat(9) }), {
  minLength: 1,
  maxLength: 14,
});

/** What the steps may be answered, where the hierarchy is another than they want. */
const REFUSALS = ["not-found", "target-exists", "target-not-empty", "path-not-allowed", "invalid-option"];

async function run(store: TestedStore, { act, path, to, value }: Step): Promise<void> {
  const array = { shape: [value], dataType: "uint8", chunks: [2] } as const;
  const ifExists = act === "replace" ? "replace" : "error";
  if (act === "create" || act === "replace") {
    await (await create({ store, path }, array, { ifExists })).close();
  } else if (act === "group" || act === "consolidate") {
    const group = await createGroup({ store, path }, {}, { consolidated: act === "consolidate" });
    await (await group.create("a", array)).close();
    await group.close();
  } else {
    const node = await open({ store, path });
    if (act === "delete") await deleteNode(node);
    if (act === "rename") await renameNode(node, to);
    if (act === "attributes") await setAttributes(node, { value });
    if (act === "resize" && node.kind === "array") await resizeArray(node, [value], { outside: "delete" });
  }
}

/** Groups that have consolidated metadata now. */
async function consolidatedGroups(store: TestedStore, zarrFormat: "v2" | "v3"): Promise<string[]> {
  const name = zarrFormat === "v2" ? ".zmetadata" : "zarr.json";
  const groups: string[] = [];
  for (const key of await keysOf(store)) {
    const isTold =
      zarrFormat === "v2" || "consolidated_metadata" in (await jsonAt(store, key).catch(() => ({})));
    if (key.split("/").at(-1) === name && isTold) groups.push(key.slice(0, -name.length).replace(/\/$/, ""));
  }
  return groups;
}

describe.each(["v2", "v3"] as const)("consolidated metadata of %s", (zarrFormat) => {
  const stores: [string, number, () => TestedStore][] = [
    ["memory", samples(150), () => new MemoryStore()],
    ["a directory", samples(108), () => new DirectoryStore(folder.next("p.zarr"))],
  ];
  test.each(stores)(
    "are after each operation what consolidating gives, in %s",
    async (_, runs, make) => {
      const done = new Map<string, number>();
      const property = fc.asyncProperty(steps, async (taken) => {
        const store = make();
        await (await createGroup({ store, path: "" }, { zarrFormat }, { consolidated: true })).close();
        for (const step of taken) {
          try {
            await run(store, step);
            done.set(step.act, (done.get(step.act) ?? 0) + 1);
          } catch (error) {
            if (!isZarrflowError(error) || !REFUSALS.includes(error.code)) throw error;
          }
          const groups = await consolidatedGroups(store, zarrFormat);
          expect(groups).toContain("");
          await expectTrueConsolidation(store, groups);
        }
      });
      await fc.assert(property, { numRuns: runs, seed: 7 });
      for (const act of ["create", "group", "consolidate", "delete", "rename", "attributes", "resize"]) {
        expect(done.get(act), act).toBeGreaterThan(0);
      }
    },
    60_000,
  );
});
