// @module-tag slow
import { mkdir, readFile, rename, truncate, writeFile } from "node:fs/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { TraceFile } from "../../../src/cli/trace.ts";
import { openArray, slice } from "../../../src/index.ts";
import { ZarrflowError } from "../../../src/util/errors.ts";
import { serveValues } from "../../stores/value-server.ts";
import { buildZip } from "../../stores/zip/build-zip.ts";
import { given } from "../../support/given.ts";
import { withoutPauses } from "../../support/no-pauses.ts";
import { type Shell, shell } from "../shell.ts";

withoutPauses();

const t = { shape: [4, 6], chunks: [2, 3], dimensions: ["y", "x"] };
const group = () => shell({ "g.zarr": { t, x: { shape: [6], dimensions: ["x"] } } }, { title: "é" });
const ALL = [".zattrs", ".zgroup", "t", "x"];
const containing = (text: string) => expect.stringContaining(text);

/** The digests of all arrays of a store, one a line. */
const digests = ({ output }: Shell, store: string) => output(`digest ${store}`);

describe("zarrflow copy", () => {
  it("copies every key byte for byte, and says so on standard error alone, where it is not quiet", async () => {
    const { run, names, text } = await group();
    const { code, stdout, stderr } = await run("copy g.zarr h.zarr --verify");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toMatch(/h\.zarr: \d+ keys, .* keys read back and verified\nmemory: /);
    expect(await names("h.zarr", true)).toEqual(await names("g.zarr", true));
    for (const name of ["t/0.0", "t/.zarray", ".zattrs"])
      expect(await text(`h.zarr/${name}`)).toEqual(await text(`g.zarr/${name}`));
    expect(await run("copy g.zarr i.zarr --quiet")).toMatchObject({ code: 0, stdout: "", stderr: "" });
    const json = await run("copy g.zarr/t t.zarr.zip --json");
    expect(json).toMatchObject({ code: 0, stderr: "" });
    const measured = { peakMemory: expect.any(Number), peakBuffers: expect.any(Number) };
    expect(JSON.parse(json.stdout)).toMatchObject({ keysWritten: 6, chunksWritten: 4, ...measured });
    expect(await names()).toEqual(["g.zarr", "h.zarr", "i.zarr", "t.zarr.zip"]);
  });

  it("keeps a target that is there, unless it is to be replaced", async () => {
    const { output, refusal, names } = await group();
    await output("copy g.zarr/x h.zarr");
    expect(await refusal(2, "copy g.zarr h.zarr")).toMatch(/^zarrflow: .*h\.zarr exists\n/);
    expect(await names("h.zarr")).toContain("0");
    await output("copy g.zarr h.zarr --if-exists replace");
    expect(await names("h.zarr")).toEqual(ALL);
  });

  it("re-codes with --codec, coordinates aside, with settings by their names too, and keeps the values", async () => {
    const made = await group();
    const { output, refusal, document } = made;
    await output("copy g.zarr h.zarr --codec gzip:9");
    const compressor = { id: "gzip", level: 9 };
    expect(await document("h.zarr/t/.zarray")).toMatchObject({ chunks: [2, 3], compressor });
    expect(await document("h.zarr/x/.zarray")).toMatchObject({ compressor: null });
    expect(await digests(made, "h.zarr")).toBe(await digests(made, "g.zarr"));
    await output('copy g.zarr/t gzip.zarr --codec {"name":"gzip"}');
    expect(await document("gzip.zarr/.zarray")).toMatchObject({ compressor: { id: "gzip", level: 5 } });
    const wrong = 'copy g.zarr/t z.zarr --codec {"name":"zstd","configuration":{"levle":19}}';
    expect(await refusal(2, wrong)).toContain("Did you mean `level`?");
  });

  it("prints a plan and does nothing with --dry-run", async () => {
    const { run, names } = await group();
    const { code, stdout, stderr } = await run("copy g.zarr h.zarr --dry-run");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^copy .*g\.zarr -> .*h\.zarr$/m);
    expect(stdout).toMatch(/^t {2}float32 \(4, 6\) {2}verbatim {2}at most 4 chunks of 24 B$/m);
    expect(stdout).toContain("all other keys are copied unchanged");
    expect(stdout).toMatch(/^copied unchanged: 11 keys, \d+ B, documents included$/m);
    expect(await names()).toEqual(["g.zarr"]);
  });

  it.each([
    ["--alone", { filter: { include: ["t"] }, leftOut: ["x"] }, [".zattrs", ".zgroup", "t"]],
    ["--quiet", { filter: { include: ["t"], companions: ["x"] } }, ALL],
  ])(
    "counts with --dry-run what the copy of an array with %s then writes",
    async (flag, publication, written) => {
      const { output, json, names } = await group();
      const line = `copy g.zarr h.zarr --include t ${flag}`;
      const told = await output(`${line} --dry-run`);
      expect(told.includes("x included as companions (--alone omits them)")).toBe(flag === "--quiet");
      const dry = await json<{ copied: object }>(`${line} --dry-run`);
      expect(dry).toMatchObject({ publication });
      const { keysWritten, bytesWritten } = await json<Record<string, number>>(line);
      expect(dry.copied).toEqual({ keys: keysWritten, bytes: bytesWritten });
      expect(await names("h.zarr")).toEqual(written);
    },
  );

  it("takes what is included and not excluded", async () => {
    const { output, refusal, names, at } = await group();
    await writeFile(at("g.zarr/notes.txt"), "hello");
    await output("copy g.zarr h.zarr --include t --include x --exclude *.txt");
    expect(await names("h.zarr")).toEqual(ALL);
    expect(await refusal(2, "copy g.zarr i.zarr --include {t")).toMatch(/unclosed bracket/);
  });

  it("updates what differs, says what it did, and nothing where nothing differs", async () => {
    const { run, output, json, refusal, names, at } = await group();
    await output("copy g.zarr h.zarr");
    await writeFile(at("g.zarr/t/0.0"), new Uint8Array(24));
    await writeFile(at("h.zarr/t/7.7"), "stale");
    const dry = await output("copy g.zarr h.zarr --update --dry-run");
    expect(dry).toMatch(/copied unchanged: 2 keys, \d+ B, .*\nup to date: 9 keys; deleted: 1 key$/m);
    expect(dry).toMatch(/keys that the source lacks are deleted$/m);
    const first = await run("copy g.zarr h.zarr --update --verify");
    expect(first).toMatchObject({ code: 0, stdout: "" });
    expect(first.stderr).toMatch(
      /h\.zarr: 2 keys, .*, 9 keys up to date, 1 key deleted, 2 keys read back and verified/,
    );
    await output("diff g.zarr h.zarr");
    expect(await names("h.zarr/t")).not.toContain("7.7");
    const nothing = { keysWritten: 0, keysKept: 11, keysDeleted: 0, bytesWritten: 0 };
    expect(await json("copy g.zarr h.zarr --update")).toMatchObject(nothing);
    await refusal(2, "copy g.zarr h.zarr --update --codec zlib:1");
    await output("copy g.zarr h.zarr.zip");
    expect(await refusal(4, "copy g.zarr h.zarr.zip --update")).toMatch(
      /Replace it, or choose another target/,
    );
  });

  it("copies a folder that is no Zarr, and says that it is none", async () => {
    const { run, output, at } = await group();
    await mkdir(at("all"));
    await rename(at("g.zarr"), at("all/g.zarr"));
    const stderr = expect.stringMatching(/not a Zarr hierarchy/);
    expect(await run("copy all copy.zip")).toMatchObject({ code: 0, stderr });
    await output("diff all/g.zarr copy.zip/g.zarr");
  });

  it.each([
    ["copy g.zarr memory:foo", 2],
    ["rechunk g.zarr memory:foo --chunks 1", 2],
    ["slice g.zarr memory:foo --slice y=0", 2],
    ["pyramid g.zarr memory://foo", 2],
    ["plan copy g.zarr memory:foo --output p.json", 2],
    ["copy memory:foo h.zarr", 3],
    ["append g.zarr memory:foo --dim y", 3],
    ["info memory:foo", 3],
  ])("%s is refused, since memory would be of the command alone", async (line, code) => {
    const ended = /`memory:[^`]*` would be lost when the command ends/;
    const absent = /memory:foo does not exist in this process[\s\S]*exists only in the process/;
    const { refusal } = await group();
    expect(await refusal(code, line)).toMatch(code === 2 ? ended : absent);
  });

  it("says of a server that cannot list why it is no source of an update, and names the key that another denies", async () => {
    const { output, run, refusal, at } = await group();
    const values = new Map<string, Uint8Array>();
    for (const name of [".zarray", ".zattrs", "0.0"]) values.set(name, await readFile(at("g.zarr/t", name)));
    const [open, closed] = [await serveValues(values), await serveValues(values, { isLetIn: () => false })];
    onTestFinished(async () => void (await Promise.all([open.close(), closed.close()])));
    await output("copy g.zarr/t copy.zarr");
    const { code, stderr } = await run(`copy ${open.url} copy.zarr --update`);
    expect(stderr).toContain("zarrflow: an update needs a source that can list its keys\n");
    expect(stderr).toContain("--if-exists replace");
    expect(code).not.toBe(0);
    const denied = /^zarrflow: key zarr\.json: the server requires authentication/;
    expect(await refusal(1, `info ${closed.url}`)).toMatch(denied);
  });
});

describe("--if-exists skip", () => {
  it("leaves a Zarr or a file that is there, says so, and ends with 0", async () => {
    const { run, output, json, text } = await group();
    const stderr = expect.stringMatching(/^\/.*\/c\.zarr: exists and was kept\n$/);
    const skip = (line: string) => run(`${line} --if-exists skip`);
    await output("copy g.zarr c.zarr --if-exists skip");
    expect(await skip("copy g.zarr/t c.zarr")).toMatchObject({ code: 0, stdout: "", stderr });
    await output("diff g.zarr c.zarr");
    const skipped = await json("copy g.zarr c.zarr --if-exists skip");
    expect(skipped).toMatchObject({ skipped: true, keysWritten: 0 });
    await output("slice g.zarr/t --output out --quiet");
    const part = "slice g.zarr/t --slice 0 --output out";
    expect(await skip(part)).toMatchObject({ code: 0, stdout: "", stderr: "out: exists and was kept\n" });
    expect(await text("out")).toHaveLength(96);
    expect(await json(`${part} --if-exists skip`)).toEqual({ output: "out", skipped: true });
  });

  it("adds what is not there", async () => {
    const { output, names, text, at } = await group();
    await output("copy g.zarr h.zarr --exclude x");
    await writeFile(at("h.zarr/t/0.0"), new Uint8Array(24));
    await output("copy g.zarr h.zarr --if-exists skip");
    expect(await names("h.zarr")).toContain("x");
    expect(await text("h.zarr/t/0.0")).toBe("\0".repeat(24));
  });

  it("into another format names the format of the target", async () => {
    const { output, refusal } = await group();
    await output("convert g.zarr c.zarr --to v3 --quiet");
    const said = await refusal(2, "convert g.zarr c.zarr --to v2 --if-exists skip");
    expect(said).toContain("--to v3");
    expect(said).not.toContain("--if-exists skip");
  });
});

describe("--dry-run of a target that is there", () => {
  it.each(["copy", "rechunk --chunks -1,-1", "convert --to v3", "slice --slice 0"])(
    "is refused as %s itself would be",
    async (words) => {
      const { run, output, names } = await group();
      await output("copy g.zarr c.zarr --quiet");
      const line = `${words} g.zarr/t c.zarr`;
      const dry = await run(`${line} --dry-run`);
      expect(dry).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/c\.zarr exists/) });
      expect(dry).toEqual(await run(line));
      const replacing = await run(`${line} --if-exists replace --dry-run`);
      expect(replacing).toMatchObject({ code: 0, stderr: "" });
      expect(await names()).toEqual(["c.zarr", "g.zarr"]);
      await output("diff g.zarr c.zarr");
    },
  );

  it("is refused where what is there is no Zarr, whatever is asked for", async () => {
    const { run, at } = await group();
    await writeFile(at("c.zarr"), "mine");
    for (const ifExists of ["error", "skip", "replace"]) {
      const line = `copy g.zarr c.zarr --if-exists ${ifExists} --json`;
      const dry = await run(`${line} --dry-run`);
      expect(dry).toMatchObject({ code: 2, stdout: "" });
      expect(dry).toEqual(await run(line));
    }
  });
});

describe("zarrflow convert", () => {
  it("writes another format and back, and nothing that counts differs", async () => {
    const { output, json, document, text } = await group();
    const plan = await json("convert g.zarr v3.zarr --to v3 --dry-run");
    expect(plan).toMatchObject({ operation: "convert", publication: { zarrFormat: "v3" } });
    await output("convert g.zarr v3.zarr --to v3");
    const written = { zarr_format: 3, dimension_names: ["y", "x"] };
    expect(await document("v3.zarr/t/zarr.json")).toMatchObject(written);
    expect(await text("v3.zarr/t/c/1/0")).toEqual(await text("g.zarr/t/1.0"));
    await output("convert v3.zarr v2.zarr --to v2 --quiet");
    for (const other of ["v3.zarr", "v2.zarr"]) await output(`diff g.zarr ${other}`);
    for (const number of [1, 2, 3]) {
      await output(`convert g.zarr/t ${number} --to ${number} --codec blosc`);
      expect(await json(`info ${number}`)).toMatchObject([{ zarrFormat: `v${number}` }]);
    }
  });

  it("writes the draft of v3, whose nodes are found by the hierarchy above them", async () => {
    const { output, refusal, document } = await group();
    const line = "convert g.zarr draft.zarr --to v3-draft-2019 --quiet";
    expect(await refusal(4, line)).toContain("/dimension_names");
    await output(`${line} --allow-loss /dimension_names`);
    expect(await document("draft.zarr/meta/root/t.array")).toMatchObject({ chunk_memory_layout: "C" });
    const [digest = ""] = (await output("digest g.zarr/t")).split(" ");
    expect(await output("digest draft.zarr/t")).toContain(digest);
    expect(await output("tree draft.zarr")).toContain("float32");
    expect(await refusal(3, "info draft.zarr/no")).toContain("meta/root/no.array");
  });

  it("writes an array of v1, which every command reads", async () => {
    const { output, refusal, document } = await group();
    await output("convert g.zarr v3.zarr --to v3 --codec zstd --quiet");
    expect(await refusal(4, "convert v3.zarr/t t.v1 --to v1")).toContain("/codecs/1");
    await output("convert v3.zarr/t t.v1 --to v1 --codec blosc --quiet");
    expect(await document("t.v1/meta")).toMatchObject({ zarr_format: 1, compression: "blosc" });
    expect(await output("tree t.v1")).toBe("t.v1  float32 (y 4, x 6) in chunks of (2, 3), v1\n");
    expect(await output("info t.v1")).toContain("4 of 4 stored");
    await output("copy t.v1 t.zip --quiet");
    await output("rechunk t.zip r.v1 --chunks y=-1,x=2 --quiet");
    const [digest] = (await output("digest g.zarr/t")).split(" ");
    for (const other of ["t.v1", "t.zip", "r.v1"]) {
      await output(`diff v3.zarr/t ${other}`);
      await output(`validate --deep ${other}`);
      expect(await output(`digest ${other}`), other).toContain(digest);
      expect(await output(`slice ${other} --slice y=3,x=4:6 --format json`)).toBe("[22,23]\n");
    }
  });

  it("refuses what the format cannot hold, unless it is named", async () => {
    const { run, output, refusal, text, at } = await group();
    await output("convert g.zarr v3.zarr --to v3 --quiet");
    const names = (await text("v3.zarr/t/zarr.json")).replace(
      /("dimension_names": )\[[^\]]*\]/,
      '$1["y", null]',
    );
    await writeFile(at("v3.zarr/t/zarr.json"), names);
    expect(await refusal(4, "convert v3.zarr v2.zarr --to v2")).toContain("/dimension_names");
    const line = "convert v3.zarr v2.zarr --to v2 --allow-loss /attributes/none,/dimension_names --quiet";
    const stderr = expect.stringMatching(/^warning: .* no node has \/attributes\/none\. .*\n$/);
    expect(await run(line)).toMatchObject({ code: 0, stderr });
  });

  it("is a flag of copy and rechunk, too", async () => {
    const { output, refusal } = await group();
    await output("copy g.zarr c.zarr --to v3 --quiet");
    await refusal(2, "rechunk g.zarr r.zarr --chunks 4,6 --to v3 --quiet");
    await output("rechunk g.zarr r.zarr --chunks t:4,6 --to v3 --quiet");
    expect(await output("diff c.zarr r.zarr")).toBe("t: chunks: [2,3] -> [4,6] (not counted)\n");
  });

  it("prints with --dry-run how many missing chunks are written out", async () => {
    const { output, names, at } = await shell();
    const grid = { shape: [6, 8], chunks: [2, 3], dataType: "int16", dimensionNames: ["y", "x"] };
    const filled = {
      fillValue: 7,
      attributes: { _FillValue: -999 },
      values: (i: number) => (i < 16 ? 0 : 7),
    };
    await given({ at: at("a.zarr"), zarrFormat: "v3", arrays: { t: { ...grid, ...filled } } });
    const dry = await output("convert a.zarr b.zarr --to v2 --dry-run");
    expect(dry).toMatch(/missing +6 source chunks, written with the fill value of the source/);
    await output("convert a.zarr b.zarr --to v2");
    expect(await names("b.zarr/t")).toEqual(expect.arrayContaining(["1.0", "2.2"]));
  });
});

describe("zarrflow rechunk", () => {
  const [shape, dimensions] = [
    [6, 10],
    ["time", "x"],
  ];
  const series = () => {
    const arrays = { t: { shape, chunks: [1, 10], dimensions }, u: { shape, chunks: [2, 10], dimensions } };
    const time = { shape: [6], chunks: [3], dimensions: ["time"] };
    return shell({ "g.zarr": { ...arrays, x: { shape: [10], dimensions: ["x"] }, time } });
  };

  it("rechunks the arrays that have the dimensions, and keeps all values", async () => {
    const made = await series();
    const { run, output, document, names } = made;
    const done = await run("rechunk g.zarr h.zarr --chunks time=-1,x=4 --chunks u:6,1 --verify");
    expect(done).toMatchObject({ code: 0, stdout: "", stderr: containing("read back and verified") });
    for (const [path, chunks] of Object.entries({ t: [6, 4], u: [6, 1], x: [10], time: [3] }))
      expect(await document(`h.zarr/${path}/.zarray`)).toMatchObject({ chunks });
    expect(await digests(made, "h.zarr")).toBe(await digests(made, "g.zarr"));
    expect(await names()).toEqual(["g.zarr", "h.zarr"]);
    await output("rechunk g.zarr i.zarr --chunks time:time=-1 --quiet");
    expect(await output("tree i.zarr")).toContain("(time 6) in chunks of (6)");
  });

  it("goes straight into a zip", async () => {
    const { output, json } = await series();
    const report = await json("rechunk g.zarr/t t.zip --chunks -1,5 --codec zstd:1");
    expect(report).toMatchObject({ chunksRead: 6, chunksWritten: 2 });
    const [source] = (await output("digest g.zarr/t")).split(" ");
    expect(await output("digest t.zip")).toBe(`${source}  t.zip\n`);
  });

  it("puts chunks together in shards, which every command reads", async () => {
    const made = await series();
    const { run, output, names } = made;
    const line = "rechunk g.zarr s.zarr --to v3 --chunks time=2,x=5 --shards time=-1,x=10";
    expect(await output(`${line} --dry-run`)).toContain("(2, 5) of 40 B in shards of (6, 10)");
    expect(await run(`${line} --quiet`)).toMatchObject({ code: 0, stderr: "" });
    expect(await names("s.zarr/t/c", true)).toEqual(["0", "0/0"]);
    const info = await output("info s.zarr/t");
    expect(info).toMatch(/chunks +\(2, 5\) in shards\n +shards +\(6, 10\), 1 of 1 stored\n/);
    expect(await output("tree s.zarr")).toContain("in chunks of (2, 5) in shards of (6, 10)");
    await output("validate s.zarr");
    expect(await digests(made, "s.zarr")).toBe(await digests(made, "g.zarr"));
    await output("copy s.zarr plain.zarr --shards none --quiet");
    expect(await digests(made, "plain.zarr")).toBe(await digests(made, "g.zarr"));
    expect(await output("info plain.zarr/t")).toContain("(2, 5), 6 of 6 stored");
  });

  it("reports the plan: strategy, cost, memory, and with --explain why not others; or all of it as JSON", async () => {
    const { run, output, json, names, cwd } = await series();
    const line = "rechunk g.zarr h.zarr --chunks time=-1,x=4 --dry-run";
    const { code, stdout, stderr } = await run(`${line} --max-mem 20kB`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.replaceAll(cwd, "CWD")).toMatchSnapshot();
    expect(stdout).not.toContain("not verbatim");
    expect(await output(`${line} --explain`)).toContain("not verbatim: the chunk shapes differ");
    const plan = { format: "zarrflow-plan/1", operation: "rechunk", execution: { concurrency: 3 } };
    const jobs = ["direct", "verbatim", "direct", "verbatim"].map((strategy) => ({ strategy }));
    const json3 = await json<{ jobs: { path: string }[] }>(`${line} --io 3`);
    expect(json3).toMatchObject(plan);
    expect(json3.jobs.sort((a, b) => (a.path < b.path ? -1 : 1))).toMatchObject(jobs);
    expect(await names()).toEqual(["g.zarr"]);
  });
});

describe("flags that change values", () => {
  const attributes = { scale_factor: 0.5, _FillValue: -1 };

  it("do so in copy, rechunk, convert and slice, and a dry run says what becomes of them", async () => {
    const { output, at } = await shell();
    const s = { dataType: "int16", values: [1, 2, 3, -1], chunks: [2], dimensionNames: ["x"], attributes };
    await given({ at: at("s.zarr"), arrays: { t: s }, consolidated: true });
    const flags = "--unpack --fill-value=-5 --verify=values --quiet";
    const lines = ["copy", "rechunk --chunks x=4", "convert --to v2", "slice --slice x=0:4"];
    for (const [n, line] of lines.entries()) {
      await output(`${line} s.zarr ${n}.zarr ${flags}`);
      expect([...(await slice(at(`${n}.zarr/t`)).read()).data]).toEqual([0.5, 1, 1.5, -5]);
      expect((await openArray(at(`${n}.zarr/t`))).attributes).not.toHaveProperty("scale_factor");
    }
    await writeFile(at("m.mjs"), "export default ({ data }) => data.map((one) => 10 * one);");
    const dry = await output("copy s.zarr d.zarr --map m.mjs --dtype int8 --dry-run");
    expect(dry).toMatch(/values .*int16 -> int8, .*m\.mjs/);
  });
});

describe("warnings", () => {
  const document = (shape: number[]) => {
    const made = { zarr_format: 2, shape, chunks: [1], dtype: "|u1", compressor: null, fill_value: 0 };
    return Buffer.from(JSON.stringify({ ...made, order: "C", filters: null }));
  };

  it("of a run are on standard error, also with --quiet, but not with --no-warnings; those of a plan in a dry run", async () => {
    const { run, output, at } = await shell();
    const twice = [1, 2].map((value) => ({ name: "0", value: new Uint8Array([value]) }));
    await writeFile(at("x.zip"), buildZip([{ name: ".zarray", value: document([2]) }, ...twice]));
    const stderr = "warning: two zip entries have this name: the later one is used (key 0)\n";
    const told = await run("copy x.zip a.zarr --json");
    expect(told).toMatchObject({ code: 0, stderr: containing(stderr) });
    expect(JSON.parse(told.stdout)).toMatchObject({ keysWritten: 2 });
    expect(await run("copy x.zip b.zarr --quiet")).toMatchObject({ code: 0, stderr });
    const silent = await run("copy x.zip c.zarr --quiet --no-warnings");
    expect(silent).toMatchObject({ code: 0, stderr: "" });
    await writeFile(at("y.zip"), buildZip([{ name: ".zarray", value: document([200_000]) }]));
    const dry = await output("copy y.zip z.zip --dry-run");
    expect(dry).toMatch(/warning: the zip will have up to 200,000 entries[\s\S]*--shards/);
  });

  it.each([
    ["diff x.zarr x.zarr --anonymous", "--anonymous has no effect: no store is in S3"],
    ["clean x.zarr --missing-403", "--missing-403 has no effect"],
    ["info x.zarr --attempts 2", "--attempts has no effect: no store is a web server or in S3"],
    ["diff x.zarr x.zarr --timeout 9s", "--timeout has no effect: no store is a web server or in S3"],
    ["info x.zarr --header a:b", "--header has no effect: no store is a web server"],
    ["slice x.zarr --slice 0 --format json --anonymous", "--anonymous has no effect"],
    ["plan copy x.zarr y.zarr --codec zstd --output p.json --anonymous", "--anonymous has no effect"],
    [
      "plan copy x.zarr y.zarr --codec zstd --output p.json --json",
      "--json has no effect without --simulate",
    ],
  ])("name flags without effect: %s", async (line, reason) => {
    const { run, at } = await shell();
    await mkdir(at("x.zarr"));
    await writeFile(at("x.zarr/.zarray"), document([2]));
    expect(await run(line)).toMatchObject({ code: 0, stderr: containing(`warning: ${reason}`) });
    const silent = await run(`${line.replace("p.json", "q.json")} --no-warnings`);
    expect(silent.stderr).not.toContain("no effect");
  });
});

describe("--trace", () => {
  const line = "rechunk a.zarr b.zarr --chunks 6,2 --trace run.jsonl --quiet";
  const a = { shape: [6, 10], chunks: [1, 10] };
  type Line = Readonly<Record<string, unknown>>;
  const linesOf = async ({ text }: Shell): Promise<Line[]> =>
    (await text("run.jsonl"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));

  it("names every key that a run writes, once, and the task that writes it", async () => {
    const made = await shell({ "a.zarr": a });
    await made.output(line);
    const lines = await linesOf(made);
    const written = lines.filter(({ type }) => type === "written");
    expect(written.map(({ key }) => key).sort()).toEqual(await made.names("b.zarr"));
    const chunks = written.filter(({ key }) => !String(key).startsWith("."));
    expect(chunks).toHaveLength(5);
    const tasks = lines.filter(({ type }) => type === "task-end").map(({ task }) => task);
    for (const { task, size } of chunks) expect([tasks.includes(task), size]).toEqual([true, 48]);
    expect([lines[0]?.type, lines.at(-1)?.type]).toEqual(["plan", "done"]);
    for (const { ms } of lines) expect(ms).toEqual(expect.any(Number));
  });

  it("holds what happened before a run failed", async () => {
    const made = await shell({ "a.zarr": a });
    await truncate(made.at("a.zarr/3.0"), 7);
    expect(await made.run(line)).toMatchObject({ code: 1 });
    const failed = (await linesOf(made)).find(({ type }) => type === "task-failed");
    expect(failed).toMatchObject({ task: 0, error: { code: "corrupt-chunk" } });
  });

  it("names key and attempt of requests that are made again", async () => {
    const made = await shell();
    const trace = new TraceFile(made.at("run.jsonl"));
    const error = new ZarrflowError("transient", "the server is busy", { found: "503" });
    const retry = { store: "S3", operation: "get", key: "a/0", error, attempt: 2, wait: 400 };
    trace.note({ type: "retry", retry });
    trace.open();
    trace.close();
    const { code, message } = error;
    const noted = { ms: expect.any(Number), type: "retry", ...retry, error: { code, message } };
    expect(await linesOf(made)).toEqual([noted]);
  });
});
