// @module-tag slow
import { readdirSync, readFileSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { copy, rechunk, sliceTo } from "../../src/flows/copy.ts";
import type { FlowEvent, RunReport } from "../../src/flows/events.ts";
import type { RunOptions } from "../../src/flows/request/flow.ts";
import { create } from "../../src/hierarchy/create/create.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";

const folder = temporaryFolder();
let source = "";

beforeAll(async () => {
  source = join(folder.path, "source.zarr");
  const array = await create(source, {
    shape: [40, 12, 12],
    chunks: [1, 12, 12],
    dataType: "int32",
    zarrFormat: "v2",
  });
  await array.write(
    [],
    Int32Array.from({ length: 40 * 144 }, (_, i) => (i * 2654435761) % 1000),
  );
  await array.close();
});

/** What decides windows, beside the memory budget. */
const SERIAL = { threads: 1, io: 1 };

type Flow = (target: string, options: RunOptions) => Promise<RunReport>;

const FLOWS: Readonly<Record<string, Flow>> = {
  copy: (target, options) => copy(source, target, options),
  "copy with another codec": (target, options) => copy(source, target, { codec: "zstd", ...options }),
  "rechunk, direct": (target, options) =>
    rechunk(source, target, { chunks: [8, 3, 3], strategy: "direct", maxMemory: "100kB", ...options }),
  "rechunk, staged": (target, options) =>
    rechunk(source, target, { chunks: [40, 2, 2], strategy: "staged", maxMemory: "100kB", ...options }),
  "rechunk into shards": (target, options) =>
    rechunk(source, target, {
      chunks: [4, 3, 3],
      shards: [8, 6, 6],
      to: "v3",
      maxMemory: "100kB",
      ...options,
    }),
  "slice to zarr": (target, options) =>
    sliceTo(source, target, { slice: [[3, 33], null, [1, 9]], ...options }),
};

/** Runs a flow that is stopped after so many tasks or keys; what came of it. */
async function stoppedAfter(
  flow: Flow,
  target: string,
  steps: number,
  options: RunOptions,
): Promise<{
  readonly ended: RunReport | Error;
  readonly unfinished: FlowEvent | undefined;
}> {
  const stopping = new AbortController();
  const events: FlowEvent[] = [];
  let done = 0;
  const onEvent = (event: FlowEvent) => {
    events.push(event);
    if (event.type === "task-end" || event.type === "progress") done++;
    if (done >= steps) stopping.abort(new Error("enough"));
  };
  const ended = await flow(target, { ...SERIAL, ...options, stop: stopping.signal, onEvent }).catch(
    (error) => error,
  );
  return { ended, unfinished: events.find(({ type }) => type === "unfinished") };
}

/** Every file below a folder, with what is in it. */
function filesBelow(path: string): Map<string, string> {
  if (statSync(path).isFile()) return new Map([["", readFileSync(path).toString("base64")]]);
  return new Map(
    readdirSync(path, { recursive: true, encoding: "utf8" })
      .filter((name) => statSync(join(path, name)).isFile())
      .sort()
      .map((name) => [name, readFileSync(join(path, name)).toString("base64")]),
  );
}

const besides = async (target: string) =>
  (await readdir(dirname(target))).filter((name) => name !== basename(target));

describe.each(Object.entries(FLOWS))("%s", (_name, flow) => {
  describe.each(["out.zarr", "out.zarr.zip"])("to %s", (name) => {
    it("goes on after each of its first stops, and gives what an undisturbed run gives", async () => {
      const undisturbed = folder.next(name);
      const { tasks, keysWritten } = await flow(undisturbed, SERIAL);
      const target = folder.next(name);
      let kept = 0;
      let report: RunReport | undefined;
      for (let stops = 0; report === undefined; stops++) {
        const steps = stops < 3 ? stops + 1 : Number.POSITIVE_INFINITY;
        const { ended, unfinished } = await stoppedAfter(flow, target, steps, { resume: true, verify: true });
        if (!(ended instanceof Error)) report = ended;
        else {
          expect(ended).toMatchObject({ code: "aborted" });
          expect(unfinished).toBeDefined();
          kept++;
        }
      }
      expect(kept).toBeGreaterThan(0);
      expect((report.tasksResumed ?? 0) + (report.keysResumed ?? 0)).toBeGreaterThan(0);
      expect(report.tasks + (report.tasksResumed ?? 0)).toBe(tasks);
      expect(report.keysWritten).toBeLessThanOrEqual(keysWritten);
      if (name.endsWith(".zip"))
        expect(filesBelow(target).get("")?.length).toBe(filesBelow(undisturbed).get("")?.length);
      else expect(filesBelow(target)).toEqual(filesBelow(undisturbed));
      expect(await besides(target)).toEqual([]);
    });
  });
});
