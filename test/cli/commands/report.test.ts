// @module-tag slow
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { Html, html } from "../../../src/cli/report/html.ts";
import { chunkDrawing, drawnDimensions, reportPage } from "../../../src/cli/report/page.ts";
import { type RunRecord, RunRecorder } from "../../../src/cli/report/run-record.ts";
import type { FlowEvent } from "../../../src/flows/index.ts";
import { planFlow } from "../../../src/flows/request/flow.ts";
import { runFlow } from "../../../src/flows/run-flow.ts";
import { shell } from "../shell.ts";

const array = () => shell({ "a.zarr": { shape: [4, 6], chunks: [2, 3] } });

/**
 * Reads a page as a strict parser would. Returns the names of its elements in order.
 *
 * @throws when tags do not match, an attribute is without quotes, or a bare `<` or `&` is left in text.
 */
function elementsOf(page: string): string[] {
  const [open, names]: [string[], string[]] = [[], []];
  let rest = page.replace(/^<!doctype html>/, "");
  while (rest !== "") {
    const [text = ""] = /^[^<]*/.exec(rest) ?? [];
    if (/&(?!(?:amp|lt|gt|quot|#39);)/.test(text)) throw new Error(`a bare & in ${JSON.stringify(text)}`);
    rest = rest.slice(text.length);
    if (rest === "") break;
    const [tag, slash, name = "", , end] =
      /^<(\/?)([a-z][a-z0-9]*)((?:\s+[a-zA-Z][\w-]*="[^"<]*")*)\s*(\/?)>/.exec(rest) ?? [];
    if (tag === undefined) throw new Error(`no tag at ${JSON.stringify(rest.slice(0, 60))}`);
    rest = rest.slice(tag.length);
    if (slash && open.pop() !== name) throw new Error(`</${name}> closes nothing`);
    if (slash) continue;
    names.push(name);
    if (name === "style") rest = rest.slice(rest.indexOf("</style>"));
    if (!end && !/^(?:meta|br|line|circle|polygon|polyline)$/.test(name)) open.push(name);
  }
  if (open.length > 0) throw new Error(`not closed: ${open.join(", ")}`);
  return names;
}

describe("--report", () => {
  it.each([
    "copy a.zarr b.zarr",
    "rechunk a.zarr b.zarr --chunks 4,6",
    "convert a.zarr b.zarr.zip --to v3 --json",
    "slice a.zarr b.zarr --slice 0:2",
  ])("writes a page about %s", async (line) => {
    const { run, text, names, at } = await array();
    await writeFile(at("run.html"), "the one before");
    const { code, stderr } = await run(`${line} --report run.html`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: line.includes("--json") ? "" : expect.any(String) });
    const page = await text("run.html");
    expect(elementsOf(page)).toContain("table");
    expect(page).toContain(`<code>zarrflow ${line} --report run.html</code>`);
    expect(await names()).toEqual(["a.zarr", line.split(" ")[2], "run.html"]);
  });

  it("writes a page about a plan that is not run", async () => {
    const { output, text, names } = await array();
    const line = "rechunk a.zarr b.zarr --chunks 4,6 --dry-run --report plan.html";
    for (const [flag, says] of Object.entries({ "--json": "{", "--explain": "direct" })) {
      expect(await output(`${line} ${flag}`)).toContain(says);
      const page = await text("plan.html");
      expect(elementsOf(page)).toContain("table");
      expect(page).toContain("This is a plan; nothing has run yet.");
      expect(page).toContain(`<tr><td>chunks and other keys read</td><td class="n">4 chunks</td></tr>`);
      expect(page).toContain("<b>direct</b>: read source chunks");
      expect(page).not.toContain("measured");
    }
    expect(await names()).toEqual(["a.zarr", "plan.html"]);
  });

  it("writes a page about a run that fails: why, what was done, and how it is resumed", async () => {
    const { run, text, at } = await shell({ "a.zarr": { shape: [800, 6], chunks: [2, 3] } });
    await writeFile(at("a.zarr/399.1"), "short");
    const line = "rechunk a.zarr b.zarr --chunks 2,6 --threads 1 --report run.html --max-mem 1MB --quiet";
    const { code, stderr } = await run(line);
    expect(code).toBe(1);
    const page = await text("run.html");
    expect(elementsOf(page)).toContain("pre");
    expect(page).toContain("<h2>The run failed</h2>");
    const names: Readonly<Record<string, string>> = { lt: "<", gt: ">", "#39": "'", amp: "&" };
    const [, pre = ""] = /<pre>([\s\S]*?)<\/pre>/.exec(page) ?? [];
    const plain = pre.replace(/&([^;]+);/g, (entity, name) => names[name] ?? entity);
    expect(`${plain}\n`).toBe(stderr);
    expect(plain).toContain("to continue, after repairing the damage: zarrflow rechunk a.zarr b.zarr");
    expect(page).toMatch(/<td>tasks<\/td><td class="n">[\d,]+<\/td><td class="n">[1-9]\d*, of/);
  });

  it("fails before the work, and before the plan, where no page can be written", async () => {
    const { refusal, names } = await array();
    const line = "copy a.zarr b.zarr --report no/run.html";
    for (const flag of ["", "--dry-run"])
      expect(await refusal(3, `${line} ${flag}`)).toContain("the folder `no` does not exist");
    expect(await names()).toEqual(["a.zarr"]);
  });
});

const hostile = `<img src=x onerror=alert(1)>"'&`;

/** The record of a rechunk of two arrays, with another one untouched. */
async function rechunked(): Promise<RunRecord> {
  const field = { shape: [20, 30, 40], chunks: [5, 30, 40], dimensions: ["time", hostile, "x"] };
  const { at } = await shell({ "<b>": { t: field, 'u"&': field, x: { shape: [40], dimensions: ["x"] } } });
  const planned = await planFlow(at("<b>"), at("out.zarr"), { chunks: { time: -1, x: 7 } });
  const recorder = new RunRecorder();
  const report = await runFlow(planned, { onEvent: (event) => recorder.note(event), verify: true });
  const words = { command: `zarrflow rechunk ${hostile}`, version: "1.2.3", peakMemory: 9e7 };
  return recorder.record({ ...words, plan: planned.plan, report });
}

describe("the page of a run", () => {
  it("is well formed, whatever names there are, and needs nothing from elsewhere", async () => {
    const page = reportPage(await rechunked());
    const elements = elementsOf(page);
    for (const name of ["script", "img", "link"]) expect(elements).not.toContain(name);
    expect(page).not.toMatch(/https?:|url\(|@import/);
    expect(page).toContain("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;");
    expect(page).toContain("default-src 'none'");
  });

  it("reports strategies, why not others, figures planned and measured, and draws chunks before and after", async () => {
    const run = await rechunked();
    const page = reportPage(run);
    expect(page).toContain("<b>direct</b>: read source chunks and assemble windows");
    expect(page).toContain("<dt>not transcode</dt><dd>the chunk shapes differ</dd>");
    const read = `<td>chunks and other keys read</td><td class="n">9 chunks</td><td class="n">9</td>`;
    expect(page).toContain(`<tr>${read}</tr>`);
    const verified = `<td class="n">–</td><td class="n">${run.report.keysVerified}</td>`;
    expect(page).toContain(`<td>keys read back</td>${verified}`);
    expect(page).toMatch(/<td>x<\/td><td>float32 \(x 40\)<\/td><td>verbatim<\/td>/);
    expect(page.match(/<svg class="grid"/g)).toHaveLength(4);
    expect(page).toContain("before: 4 chunks of (5, 30, 40)");
    expect(page).toContain("after: 6 chunks of (20, 30, 7)");
  });

  it("draws memory, throughput, and requests to servers over time, where there are samples", async () => {
    const run = await rechunked();
    const moment = { ...run.report, bufferedBytes: 5e6, processBytes: 8e7 };
    const samples = [1, 2, 3].map((seconds) => ({ ...moment, seconds, bytesRead: seconds * 1e6 }));
    const page = reportPage({ ...run, samples });
    elementsOf(page);
    expect(page.match(/<svg class="chart"/g)).toHaveLength(2);
    expect(page).toContain("budget for buffers");
    expect(page).not.toContain("requests in flight over time");
    expect(elementsOf(reportPage({ ...run, samples: [] }))).not.toContain("polyline");

    const execution = { ...run.plan.execution, concurrency: 200, isAdaptive: true };
    const requests = [64, 128, 110].map((allowed, i) => ({ inFlight: allowed - i, allowed }));
    const asked = requests.map((one, i) => ({ ...moment, seconds: i + 1, requests: one }));
    const server = reportPage({ ...run, plan: { ...run.plan, execution }, samples: asked });
    elementsOf(server);
    expect(server.match(/<svg class="chart"/g)).toHaveLength(3);
    expect(server).toContain("requests in flight over time");
    const planned = "at most 200 per server, adapted to what it can take";
    const measured = "at most 127 to servers; 110 allowed at the end";
    expect(server).toContain(`<td class="n">${planned}</td><td class="n">${measured}</td>`);
  });

  it("is of a bounded number of samples and times, with the highest peak", async () => {
    const run = await rechunked();
    const counts = { tasks: 0, chunksRead: 0, chunksWritten: 0 };
    const totals = { ...counts, arrays: 1, bytes: 0 };
    const bytes = { bytesRead: 0, bytesWritten: 0, bytesDone: 0 };
    const progress = { ...counts, ...bytes, totals, arraysDone: 0, arrays: [] };
    const recorder = new RunRecorder();
    for (let i = 0; i < 20_000; i++) {
      const bufferedBytes = i === 4321 ? 1e9 : i % 7;
      const events: FlowEvent[] = [
        { type: "progress", progress: { ...progress, bufferedBytes } },
        { type: "task-end", task: i, bytes: 1, ms: i },
      ];
      for (const event of events) recorder.note(event);
    }
    const { samples, taskTimes } = recorder.record(run);
    expect(samples.length).toBeLessThanOrEqual(1200);
    expect(taskTimes.length).toBeLessThanOrEqual(1200);
    expect(samples.some(({ bufferedBytes }) => bufferedBytes === 1e9)).toBe(true);
    expect(taskTimes.at(-1)).toBeGreaterThan(15_000);
  });
});

describe("a drawing of chunks", () => {
  const grid = (shape: readonly number[], chunkShape: readonly number[]) => {
    return { shape, chunkShape, names: shape.map((_, d) => `d${d}`) };
  };

  it.each([
    [[10], [3], 3],
    [[10, 20], [5, 5], 4],
    [[4, 6, 8], [1, 6, 4], 2 * (3 + 0 + 1)],
    [[0, 5], [1, 5], 0],
  ])("of %j in %j has %i lines between them", (shape, chunkShape, cuts) => {
    const { text } = chunkDrawing(grid(shape, chunkShape), [...shape.keys()]);
    elementsOf(text);
    expect(text.match(/class="cut"/g) ?? []).toHaveLength(cuts);
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
    for (const [d, length] of shape.entries()) expect(text).toContain(`d${d} ${length}</text>`);
  });

  it("has a bounded number of lines, of the dimensions whose chunks change, then the longest, in order", () => {
    const { text } = chunkDrawing(grid([1e6, 1e6], [1, 1]), [0, 1]);
    expect((text.match(/class="cut"/g) ?? []).length).toBeLessThanOrEqual(64);
    const before = grid([2, 900, 5, 800, 3], [1, 900, 5, 800, 3]);
    expect(drawnDimensions(before, grid([2, 900, 5, 800, 3], [2, 900, 5, 800, 1]))).toEqual([0, 1, 4]);
    expect(drawnDimensions(grid([7], [1]), grid([7], [7]))).toEqual([0]);
  });
});

describe("html", () => {
  it("escapes what is put in, but for markup of its own, and lets no control or direction character through", () => {
    const hostile = `</td><script>alert("1")</script>'&`;
    const escaped = "&lt;/td&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;";
    expect(html`<td title="${hostile}">${hostile}</td>`.text).toBe(`<td title="${escaped}">${escaped}</td>`);
    const own = html`<p>${html`<b>${"<"}</b>`}${new Html("<i></i>")}</p>`;
    expect(own.text).toBe("<p><b>&lt;</b><i></i></p>");
    expect(html`${"a\u0000b\u202ec\ud800d\te"}`.text).toBe("a\ufffdb\ufffdc\ufffdd\te");
  });

  it("takes lists and numbers, and leaves out what is absent", () => {
    expect(html`${[1, [html`<br>`, false, null, undefined], "&"]}${0}`.text).toBe("1<br>&amp;0");
  });
});
