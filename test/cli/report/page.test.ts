// @module-tag slow
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { reportPage } from "../../../src/cli/report/page.ts";
import { type RunRecord, RunRecorder } from "../../../src/cli/report/run-record.ts";
import type { FlowEvent } from "../../../src/flows/index.ts";
import { planFlow } from "../../../src/flows/request/flow.ts";
import { runFlow } from "../../../src/flows/run/run-flow.ts";
import { testFolder } from "../../support/cli.ts";
import { ramp, type V2Array, writeV2Group } from "../../support/v2-store.ts";
import { elementsOf } from "./markup.ts";

const hostile = `<img src=x onerror=alert(1)>"'&`;

const array: V2Array = { shape: [20, 30, 40], chunks: [5, 30, 40], dimensions: ["time", hostile, "x"] };

/** The record of a rechunk of two arrays, with another one untouched. */
async function rechunked(): Promise<RunRecord> {
  const cwd = await testFolder();
  const plain = { ...array, shape: [40], chunks: [40], items: ramp(40), dimensions: ["x"] };
  await writeV2Group(join(cwd, "<b>.zarr"), { t: array, 'u"&': array, x: plain });
  const planned = await planFlow(join(cwd, "<b>.zarr"), join(cwd, "out.zarr"), {
    chunks: { time: -1, x: 7 },
  });
  const recorder = new RunRecorder();
  const report = await runFlow(planned, { onEvent: (event) => recorder.note(event), verify: true });
  const words = { command: `zarrflow rechunk ${hostile}`, version: "1.2.3", peakMemory: 9e7 };
  return recorder.record({ ...words, plan: planned.plan, report });
}

describe("the page of a run", () => {
  it("is well formed, whatever names there are, and needs nothing from elsewhere", async () => {
    const page = reportPage(await rechunked());
    const elements = elementsOf(page);
    expect(elements).not.toContain("script");
    expect(elements).not.toContain("img");
    expect(elements).not.toContain("link");
    expect(page).not.toMatch(/https?:|url\(|@import/);
    expect(page).toContain("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;");
    expect(page).toContain("default-src 'none'");
  });

  it("reports the strategies, why not others, and figures planned and measured", async () => {
    const run = await rechunked();
    const page = reportPage(run);
    expect(page).toContain("<b>direct</b>: read source chunks and assemble windows");
    expect(page).toContain("<dt>not transcode</dt><dd>the chunk shapes differ</dd>");
    expect(page).toContain(
      `<tr><td>chunks and other keys read</td><td class="n">9 chunks</td><td class="n">9</td></tr>`,
    );
    expect(page).toContain(
      `<td>keys read back</td><td class="n">–</td><td class="n">${run.report.keysVerified}</td>`,
    );
    expect(page).toMatch(/<td>x<\/td><td>float32 \(x 40\)<\/td><td>verbatim<\/td>/);
  });

  it("draws the chunks before and after, of each array that is rechunked", async () => {
    const page = reportPage(await rechunked());
    expect(page.match(/<svg class="grid"/g)).toHaveLength(4);
    expect(page).toContain("before: 4 chunks of (5, 30, 40)");
    expect(page).toContain("after: 6 chunks of (20, 30, 7)");
  });

  it("draws memory and throughput over time where there are samples", async () => {
    const run = await rechunked();
    const moment = { ...run.report, expectedBytes: 5e6, processBytes: 8e7 };
    const samples = [1, 2, 3].map((seconds) => ({ ...moment, seconds, bytesRead: seconds * 1e6 }));
    const page = reportPage({ ...run, samples });
    elementsOf(page);
    expect(page.match(/<svg class="chart"/g)).toHaveLength(2);
    expect(page).toContain("budget for buffers");
    expect(page).not.toContain("requests in flight over time");
    expect(elementsOf(reportPage({ ...run, samples: [] }))).not.toContain("polyline");
  });
});

describe("the page of a run at a server", () => {
  it("draws how many requests were in flight, and how many were allowed", async () => {
    const run = await rechunked();
    const moment = { ...run.report, expectedBytes: 5e6, processBytes: 8e7 };
    const samples = [64, 128, 110].map((allowed, i) => ({
      ...moment,
      seconds: i + 1,
      requests: { inFlight: allowed - i, allowed },
    }));
    const execution = { ...run.plan.execution, concurrency: 200, isAdaptive: true };
    const page = reportPage({ ...run, plan: { ...run.plan, execution }, samples });
    elementsOf(page);
    expect(page.match(/<svg class="chart"/g)).toHaveLength(3);
    expect(page).toContain("requests in flight over time");
    expect(page).toContain(
      `<td>requests in flight</td><td class="n">at most 200 for each server, as many as are of use</td><td class="n">at most 127 at servers; 110 allowed in the end</td>`,
    );
  });
});

describe("a recorder", () => {
  const counts = { tasks: 0, chunksRead: 0, chunksWritten: 0 };
  const totals = { ...counts, arrays: 1, bytes: 0 };
  const progress = {
    ...{ ...counts, bytesRead: 0, bytesWritten: 0 },
    ...{ totals, arraysDone: 0, bytesDone: 0, arrays: [] },
  };

  it("keeps a bounded number of samples and times, and the highest peak", async () => {
    const run = await rechunked();
    const recorder = new RunRecorder();
    for (let i = 0; i < 20_000; i++) {
      const expectedBytes = i === 4321 ? 1e9 : i % 7;
      const events: FlowEvent[] = [
        { type: "progress", progress: { ...progress, expectedBytes } },
        { type: "task-end", task: i, bytes: 1, ms: i },
      ];
      for (const event of events) recorder.note(event);
    }
    const { samples, taskTimes } = recorder.record(run);
    expect(samples.length).toBeLessThanOrEqual(1200);
    expect(taskTimes.length).toBeLessThanOrEqual(1200);
    expect(samples.some(({ expectedBytes }) => expectedBytes === 1e9)).toBe(true);
    expect(taskTimes.at(-1)).toBeGreaterThan(15_000);
  });
});
