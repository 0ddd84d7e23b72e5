// @module-tag sampled
// @module-tag slow
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { loadCommand } from "../../src/cli/load-command.ts";
import type { Options } from "../../src/cli/parse-arguments.ts";
import { overview } from "../../src/cli/text/help.ts";
import { requireBuild } from "../built-package.ts";
import { serveValues } from "../stores/value-server.ts";
import { testFolder } from "../support/cli.ts";
import { runHere } from "../support/cli-here.ts";
import { ModuleRunner } from "../support/module-runner.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { drawsAll } from "../support/samples.ts";
import { writeV2Group } from "../support/v2-store.ts";

/** A group of one array, `toy.zarr/t2m`. */
async function toy(): Promise<string> {
  const cwd = await testFolder();
  await writeV2Group(join(cwd, "toy.zarr"), {
    t2m: { shape: [1440, 100], chunks: [24, 100], dimensions: ["time", "x"] },
  });
  return cwd;
}

describe("places that hold no Zarr", () => {
  it.each([
    ["toy.zarr/T2M", "zarrflow: no array or group at `toy.zarr/T2M` ", "hint: Did you mean `t2m`?"],
    ["toy.zar", "zarrflow: no array or group at `toy.zar` ", "hint: Did you mean `toy.zarr`?"],
    ["./toy.zarr/t2n/", "zarrflow: no array or group at `./toy.zarr/t2n/` ", "hint: Did you mean `t2m`?"],
  ])("%s is named as it was written, with the nearest name", async (url, reason, hint) => {
    const { code, stderr } = await runHere(await toy(), "info", url);
    expect(stderr).toContain(reason);
    expect(stderr).toContain(hint);
    expect(stderr).not.toContain("the root");
    expect(code).toBe(3);
  });

  it("are not looked through for runs that have not ended", async () => {
    const cwd = await testFolder();
    await mkdir(join(cwd, "x/y"), { recursive: true });
    await writeFile(join(cwd, "x/y/.zarrflow-0123456789ab-1"), "");
    const { code, stderr } = await runHere(cwd, "info", "x");
    expect(stderr).toContain("zarrflow: no array or group at `x` (found none of ");
    expect(code).toBe(3);
  });

  it("may have folders that cannot be read", async () => {
    requireBuild();
    const cwd = await testFolder();
    await mkdir(join(cwd, "x/y"), { recursive: true });
    await chmod(cwd, 0o755);
    await chmod(join(cwd, "x/y"), 0);
    const runner = ModuleRunner.ofNobody();
    try {
      for (const command of ["info", "tree", "validate"]) {
        const { code, stderr } = await runner.zarrflow([command, "x"], cwd);
        expect(stderr).toContain("zarrflow: no array or group at `x` ");
        expect(code).toBe(3);
      }
    } finally {
      await runner.end();
      await chmod(join(cwd, "x/y"), 0o755);
    }
  });

  it.each([
    ["elsewhere", "new.zarr", undefined],
    ["elsewhere", "folder", undefined],
    ["toy.zar", "new.zarr", "Did you mean `toy.zarr`?"],
    ["x.nc", "new.zarr", "Convert it to Zarr first"],
    [
      "toy.zar",
      "toy.zarr",
      "Did you mean `toy.zarr`? The target exists, and the source does not: are the two swapped?",
    ],
    ["elsewhere", "toy.zarr", "The target exists, and the source does not: are the two swapped?"],
    ["elsewhere", "s3://bucket/x.zarr", undefined],
    ["elsewhere", "http://127.0.0.1:1/x.zarr", undefined],
  ])("as the source %s of a copy to %s", async (source, target, hint) => {
    const cwd = await toy();
    await mkdir(join(cwd, "folder"));
    await writeFile(join(cwd, "folder/notes.txt"), "");
    await writeFile(join(cwd, "x.nc"), Buffer.from("\x89HDF\r\n\x1a\n", "latin1"));
    const { code, stderr } = await runHere(cwd, "copy", source, target);
    expect(stderr).toContain(`\`${source}\``);
    if (hint === undefined) expect(stderr).not.toContain("hint:");
    else expect(stderr).toContain(`hint: ${hint}`);
    expect(stderr.includes("swapped")).toBe(hint?.includes("swapped") ?? false);
    expect(code).toBe(3);
  });

  it.each([
    ["a.nc", "\x89HDF\r\n\x1a\n\0\0\0\0", "NetCDF/HDF5"],
    ["b.nc", "CDF\x01\0\0\0\0", "NetCDF/HDF5"],
    ["no-extension", "CDF\x05\0\0\0\0", "NetCDF/HDF5"],
    ["c.grib2", "GRIB\0\0\0\x02", "GRIB"],
  ])("%s, a file of another format", async (name, start, format) => {
    const cwd = await testFolder();
    await writeFile(join(cwd, name), Buffer.from(start, "latin1"));
    const { code, stderr } = await runHere(cwd, "tree", name);
    expect(stderr).toContain(`zarrflow: \`${name}\` is a ${format} file; zarrflow reads Zarr\n`);
    expect(code).toBe(3);
  });

  it.each([
    ["d.tif", "II*\0\x08\0\0\0", "a TIFF file (GeoTIFF, COG, OME-TIFF)", "rioxarray"],
    ["e.tif", "MM\0*\0\0\0\x08", "a TIFF file (GeoTIFF, COG, OME-TIFF)", "bioformats2raw"],
    ["f.nc", "\x89HDF\r\n\x1a\n", "a NetCDF/HDF5 file", "to_zarr"],
    ["g.tar", `zarr.json${"\0".repeat(248)}ustar`, "a tar archive", "tar -xf"],
    ["h.zarr.tar.gz", "\x1f\x8b\x08\0", "a compressed file", "tar -xf"],
    ["i.json", '{"version": 1, "refs": {".zgroup": "{}"}}', "a kerchunk JSON file", 'engine="kerchunk"'],
    ["j.json", '{".zgroup": "{}"}', "a kerchunk JSON file", 'engine="kerchunk"'],
    ["n5/attributes.json", '{"n5": "2.5.0"}', "an N5 container", "tensorstore"],
    [
      "ice1/refs/branch.main/ref.json",
      '{"snapshot": "VY76P925PRY57WFEK410"}',
      "an icechunk repository",
      "to_zarr",
    ],
    ["ice2/repo", "ICE\xf0\x9f\xa7\x8aCHUNK", "an icechunk repository", "readonly_session"],
  ])("%s is named by its format, with the way to Zarr", async (key, start, format, way) => {
    const cwd = await testFolder();
    await mkdir(dirname(join(cwd, key)), { recursive: true });
    await writeFile(join(cwd, key), Buffer.from(start, "latin1"));
    const [name = ""] = key.split("/");
    for (const args of [
      ["info", name],
      ["tree", name],
      ["convert", name, "out.zarr", "--to", "v3"],
    ] as const) {
      const { code, stderr } = await runHere(cwd, ...args);
      expect(stderr).toContain(`zarrflow: \`${name}\` is ${format}; zarrflow reads Zarr\n`);
      expect(stderr).toContain(way);
      expect(code).toBe(3);
    }
  });

  it("references of kerchunk in Parquet are no consolidated metadata", async () => {
    const cwd = await testFolder();
    await mkdir(join(cwd, "refs.parq"));
    const root = { metadata: { ".zgroup": { zarr_format: 2 } }, record_size: 10_000 };
    await writeFile(join(cwd, "refs.parq/.zmetadata"), JSON.stringify(root));
    const { code, stderr } = await runHere(cwd, "info", "refs.parq");
    expect(stderr).toContain("this is a set of kerchunk references in Parquet, not Zarr");
    expect(stderr).toContain('engine="kerchunk"');
    expect(code).toBe(4);
  });

  it("a file of no known format", async () => {
    const cwd = await testFolder();
    await writeFile(join(cwd, "notes.txt"), "GRIN and bear it");
    const { stderr } = await runHere(cwd, "tree", "notes.txt");
    expect(stderr).toContain("no array or group at `notes.txt`");
  });
});

describe("slices", () => {
  it("of a group need a DST", async () => {
    const { code, stderr } = await runHere(await toy(), "slice", "toy.zarr", "--slice", "time=0");
    expect(stderr).toBe("zarrflow: `toy.zarr` is a group\n  hint: Give a DST, or name an array.\n");
    expect(code).toBe(2);
  });

  it("take no dates where there is no coordinate", async () => {
    const { stderr } = await runHere(await toy(), "slice", "toy.zarr/t2m", "--slice", "time=2024-01-01");
    expect(stderr).toContain("There is no 1-d array `time` beside the array or above it; give indices.");
  });

  it("end where the array ends, but an index must be inside", async () => {
    const cwd = await toy();
    const clamped = await runHere(
      cwd,
      "slice",
      "toy.zarr/t2m",
      "--slice",
      "time=1439:5000,x=0",
      "--format",
      "json",
    );
    expect(clamped).toMatchObject({ code: 0, stdout: "[143900]\n" });
    const outside = await runHere(cwd, "slice", "toy.zarr/t2m", "--slice", "time=5000");
    expect(outside.stderr).toContain("Use 0 to 1439, or -1 to -1440 from the end.");
    expect(outside.code).toBe(2);
  });
});

describe("memory budgets", () => {
  const rechunk = ["rechunk", "toy.zarr", "out.zarr", "--chunks", "time=-1", "--max-mem"] as const;

  it("without a unit", async () => {
    const { code, stderr } = await runHere(await toy(), ...rechunk, "64");
    expect(stderr).toContain("`64` in --max-mem is a size of 64 bytes");
    expect(stderr).toContain("hint: Did you mean 64MB? Bytes are written 64B.\n");
    expect(code).toBe(2);
  });

  it("that are too small name the array, the dimension and the size of its chunks", async () => {
    const { stderr } = await runHere(await toy(), ...rechunk, "1MB");
    expect(stderr).toMatch(/^zarrflow: `t2m`: no plan fits the memory budget/);
    expect(stderr).toMatch(
      /hint: Allow at least .+, or choose smaller chunks: time=1440 makes chunks of 576 kB\.\n/,
    );
  });
});

describe("commands and flags", () => {
  it.each([
    [["tree", "toy.zarr", "-r"], "unknown flag `-r`"],
    [["help", "nope"], "unknown command `nope`"],
  ])("%j is too far from any name for a guess", async (args, reason) => {
    const { code, stderr } = await runHere(await toy(), ...args);
    expect(stderr).toContain(reason);
    expect(stderr).not.toContain("Did you mean");
    expect(code).toBe(2);
  });

  it.each([
    ["ls", "tree"],
    ["cp", "copy"],
  ])("%s is called %s here", async (theirs, ours) => {
    const { stderr } = await runHere(await toy(), theirs, "toy.zarr");
    expect(stderr).toContain(`Did you mean \`${ours}\`?`);
  });

  it.each(["1", "2", "3"])("convert --to %s takes the number of a format", async (number) => {
    const cwd = await toy();
    const run = await runHere(cwd, "convert", "toy.zarr/t2m", "out.zarr", "--to", number, "--codec", "blosc");
    expect(run).toMatchObject({ code: 0 });
    const { stdout } = await runHere(cwd, "info", "out.zarr", "--json");
    expect(JSON.parse(stdout)[0].zarrFormat).toBe(`v${number}`);
  });

  it("a value that a flag cannot have", async () => {
    const { stderr } = await runHere(await toy(), "convert", "toy.zarr", "out.zarr", "--to", "v4");
    expect(stderr).toContain("invalid value for --to: v4 (expected v1, v2, v3-draft-2019, v3)");
  });

  it("--help names every kind of URL", () => {
    for (const url of ["file://", ".zip", "s3://", "http(s)://"]) expect(overview()).toContain(url);
  });

  it("--dry-run explains the choice of the strategy with --explain only", async () => {
    const cwd = await toy();
    const dryRun = ["rechunk", "toy.zarr", "out.zarr", "--chunks", "time=-1", "--dry-run"] as const;
    expect((await runHere(cwd, ...dryRun)).stdout).not.toContain("not verbatim");
    expect((await runHere(cwd, ...dryRun, "--explain")).stdout).toContain(
      "not verbatim: the chunk shapes differ",
    );
  });
});

describe("servers", () => {
  withoutPauses();

  it("that cannot list are no source of an update, and the error says why", async () => {
    const cwd = await toy();
    const values = new Map<string, Uint8Array>();
    for (const name of [".zarray", ".zattrs", "0.0"])
      values.set(name, await readFile(join(cwd, "toy.zarr/t2m", name)));
    const server = await serveValues(values);
    onTestFinished(() => server.close());
    await runHere(cwd, "copy", "toy.zarr/t2m", "copy.zarr");
    const { code, stderr } = await runHere(cwd, "copy", server.url, "copy.zarr", "--update");
    expect(stderr).toContain("zarrflow: an update needs a source that can list its keys\n");
    expect(stderr).toContain("--if-exists replace");
    expect(code).not.toBe(0);
  });

  it("that deny access are named after the key", async () => {
    const server = await serveValues(new Map(), { isLetIn: () => false });
    onTestFinished(() => server.close());
    const { stderr } = await runHere(await testFolder(), "info", server.url);
    expect(stderr).toMatch(/^zarrflow: key zarr\.json: the server requires authentication/);
  });

  it("buckets have names of 3 characters or more", async () => {
    const { code, stderr } = await runHere(await testFolder(), "tree", "s3://ab/x.zarr");
    expect(stderr).toContain("this is not a bucket name");
    expect(stderr).toContain("Bucket names have 3 characters or more");
    expect(code).toBe(2);
  });

  it("an endpoint that does not answer is named", async () => {
    const endpoint = `http://127.0.0.1:${await closedPort()}`;
    const { code, stderr } = await runHere(await testFolder(), "tree", `${endpoint}/x.zarr`);
    expect(stderr).toContain(`hint: Check that ${endpoint} is running and can be reached.`);
    expect(code).toBe(5);
  });
});

/** A port of this machine at which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 9;
}

/** A value of each flag that takes any. */
const VALUES: Readonly<Record<string, string>> = {
  "allow-loss": "/attributes/a",
  "array-names": "a",
  attributes: "a.json",
  bwlimit: "1MB",
  chunks: "time=1",
  codec: "zstd",
  "max-metadata": "1MB",
  "max-mem": "64MB",
  header: "x-key: 1",
  concurrency: "4",
  shards: "time=4",
  "store-profile": "30ms",
  threads: "1",
  tps: "9",
};

/** Each command with what it needs. */
const LINES: readonly string[] = [
  ...["info", "tree", "view", "serve", "digest", "validate", "clean"].map((name) => `${name} nope.zarr`),
  ...["copy", "slice", "pyramid", "diff"].map((name) => `${name} nope.zarr new.zarr`),
  "rechunk nope.zarr new.zarr --chunks time=1",
  "convert nope.zarr new.zarr --to v3",
  "append nope.zarr new.zarr --dim time",
  "slice nope.zarr",
  "plan copy nope.zarr new.zarr --output plan.json",
];

describe("flags", () => {
  it.each(LINES.map((line, i) => [line, i] as const))(
    "of %s are options that the library knows",
    async (line, i) => {
      const cwd = await testFolder();
      const [name = "", ...given] = line.split(" ");
      const options: Options = (await loadCommand(name)).options;
      const words = (of: string): string[] => {
        const { type, choices, bare } = options[of] ?? { type: "boolean" };
        if (given.includes(`--${of}`)) return [];
        if (type === "boolean") return [`--${of}`];
        const value = choices?.[0] ?? VALUES[of] ?? "1";
        return bare === undefined ? [`--${of}`, value] : [`--${of}=${value}`];
      };
      for (const [k, [one, { effect }]] of Object.entries(options).entries()) {
        // commands share most of their flags
        if (one === "help" || (!drawsAll && (i + k) % 3 > 0)) continue;
        const beside = effect?.with?.slice(0, 1) ?? [];
        const { stderr } = await runHere(cwd, name, ...given, ...[one, ...beside].flatMap(words));
        expect(stderr, one).not.toMatch(/unknown option|this is a bug/);
      }
    },
    60_000,
  );
});
