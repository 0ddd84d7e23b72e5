// @module-tag alone
// @module-tag slow
import { EventEmitter } from "node:events";
import { expect, it, vi } from "vitest";
import { planFlow } from "../../../src/flows/request/flow.ts";
import { openArray } from "../../../src/hierarchy/open/open.ts";
import { runPlan } from "../../../src/run/run-plan.ts";
import { readSlabs } from "../../../src/run/slabs/read-slabs.ts";
import { openStore } from "../../../src/stores/url.ts";
import { wholeSelection } from "../../../src/streams/selection.ts";
import { openTargetBuild } from "../../../src/targets/index.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { rejection } from "../../streams/support.ts";
import { given } from "../../support/given.ts";

/** What became of workers: how many were asked for, and what those that began were told. */
const started = vi.hoisted(() => ({ threads: 0, told: [] as unknown[] }));

// a system where a second worker cannot be started
vi.mock("node:worker_threads", async (importOriginal) => ({
  ...(await importOriginal<object>()),
  Worker: class extends EventEmitter {
    constructor() {
      super();
      if (++started.threads === 2) throw new Error("no more threads");
    }
    unref = () => started.told.push("unref");
    postMessage = (message: unknown) => started.told.push(message);
    terminate = async () => started.told.push("terminate");
  },
}));

const folder = temporaryFolder();
const worker = { script: new URL(import.meta.url), threads: 3 };

it.each(["workers of a plan", "threads of slabs"])(
  "%s end where one more cannot be started",
  async (which) => {
    Object.assign(started, { threads: 0, told: [] });
    const grid = { shape: [301, 60, 50], dataType: "float64", chunks: [2, 60, 50], values: null };
    const array = await openArray(await given({ at: folder.next(), ...grid }));
    const running = async () => {
      const options = { maxMemory: 16e6, concurrency: 2, worker };
      if (which === "threads of slabs") return readSlabs(array, wholeSelection(array.shape), options).next();
      const { plan } = await planFlow(array, folder.next(), { chunks: [301, 4, 4], maxMemory: 16e6 });
      const build = await openTargetBuild(plan.target.store, { ifExists: "error" });
      return runPlan(plan, { source: await openStore(plan.source.store), build, worker });
    };
    expect(await rejection(running())).toMatchObject({ message: "no more threads" });
    expect(started).toEqual({ threads: 2, told: [{ type: "stop", atOnce: true }, "terminate"] });
  },
);
