// @module-tag alone
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, vi } from "vitest";
import { planFlow } from "../../../../src/flows/request/flow.ts";
import { runPlan } from "../../../../src/flows/run/run-plan.ts";
import { create } from "../../../../src/hierarchy/create/create.ts";
import { openTargetBuild } from "../../../../src/stores/target.ts";
import { openStore } from "../../../../src/stores/url.ts";
import { temporaryFolder } from "../../../stores/temporary-folder.ts";
import { rejection } from "../../../streams/support.ts";
import { started } from "./one-worker-only.ts";

vi.mock("node:worker_threads", async (importOriginal) =>
  (await import("./one-worker-only.ts")).oneWorkerOnly(importOriginal),
);

const folder = temporaryFolder();

it("workers end where one more cannot be started", async () => {
  const path = join(folder.path, "a.zarr");
  await (await create(path, { shape: [40, 40], dataType: "float64", chunks: [1, 40] })).close();
  const { plan } = await planFlow(path, join(folder.path, "b.zarr"), { chunks: [40, 1] });
  const build = await openTargetBuild(plan.target.store, { ifExists: "error" });
  const worker = { script: pathToFileURL(join(path, "zarr.json")), threads: 3 };
  const source = await openStore(plan.source.store);
  expect(await rejection(runPlan(plan, { source, build, worker }))).toMatchObject({
    message: "no more threads",
  });
  expect(started).toEqual({ threads: 2, told: [{ type: "stop", atOnce: true }, "terminate"] });
});
