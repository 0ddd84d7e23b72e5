import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { convert, rechunk } from "../../src/index.ts";
import { zarrflow } from "../support/cli.ts";
import { hasPython, runPython } from "./python.ts";
import { hasShared, shared } from "./shared.ts";

const verify = `${shared}corpus/verify_written.py`;
const era5 = `${shared}data/era5-uk-t2m.zarr`;

interface Written {
  readonly groups: readonly { readonly path: string; readonly attributes: object }[];
  readonly arrays: readonly {
    readonly path: string;
    readonly chunks: readonly number[];
    readonly attributes: object;
    readonly sha256?: string;
  }[];
}

interface Hashed {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly sha256: string;
}

describe.runIf(hasPython && hasShared)("what the command writes, read by Python", () => {
  const sha256 = (array: string): string | undefined =>
    JSON.parse(readFileSync(`${shared}data/sha256.json`, "utf8"))[`era5-uk-t2m.zarr#${array}`].sha256;
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "zarrflow-python-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test("zarr-python reads an array that was rechunked into a zip", async () => {
    const zip = join(folder, "t2m.zarr.zip");
    await zarrflow("rechunk", `${era5}/t2m`, zip, "--chunks", "time=744,latitude=11,longitude=7", "--quiet");
    const { arrays } = (await runPython(verify, zip)) as Written;
    expect(arrays).toMatchObject([{ path: "", chunks: [744, 11, 7], sha256: sha256("t2m") }]);
    expect(`${await zarrflow("digest", zip)}`).toContain(sha256("t2m"));
  });

  describe.each(["series.zarr", "series.zarr.zip"])("a group rechunked into %s", (name) => {
    beforeAll(async () => {
      const sizes = "time=744,latitude=11,longitude=7";
      await zarrflow("rechunk", era5, join(folder, name), "--chunks", sizes, "--quiet");
    });

    test("zarr-python reads every array", async () => {
      const written = (await runPython(verify, join(folder, name))) as Written;
      const source = (await runPython(verify, era5)) as Written;
      expect(written.groups).toEqual(source.groups);
      expect(written.arrays.map((array) => [array.path, array.chunks, array.sha256])).toEqual([
        ["latitude", [33], sha256("latitude")],
        ["longitude", [49], sha256("longitude")],
        ["t2m", [744, 11, 7], sha256("t2m")],
        ["time", [744], sha256("time")],
      ]);
      expect(written.arrays.map((array) => array.attributes)).toEqual(
        source.arrays.map((array) => array.attributes),
      );
    });

    test("xarray opens it by its consolidated metadata, times decoded", async () => {
      const opened = await runPython("open_dataset.py", join(folder, name));
      const source = await runPython("open_dataset.py", era5);
      expect(opened).toMatchObject({
        times: ["2019-03-01T00:00:00", "2019-03-31T23:00:00"],
        variables: { t2m: { chunks: [744, 11, 7], dimensions: ["time", "latitude", "longitude"] } },
      });
      expect(withoutChunks(opened)).toEqual(withoutChunks(source));
    });

    test("tensorstore reads every array", async () => {
      const arrays = ["latitude", "longitude", "t2m", "time"];
      const digests = await runPython("hash_tensorstore.py", join(folder, name), ...arrays);
      expect(digests).toEqual(Object.fromEntries(arrays.map((array) => [array, sha256(array)])));
    });
  });

  test("zarr-python and xarray read the group converted to v3", async () => {
    const target = join(folder, "era5.v3.zarr");
    await convert(era5, target, { to: "v3" });
    const written = (await runPython(verify, target, "--format", "3")) as Written;
    const source = (await runPython(verify, era5)) as Written;
    const values = ({ arrays }: Written) => arrays.map((array) => [array.path, array.chunks, array.sha256]);
    expect(values(written)).toEqual(values(source));
    expect(await runPython("open_dataset.py", target)).toEqual(await runPython("open_dataset.py", era5));
  });

  test("zarr-python reads a v3 group that was rechunked", async () => {
    const source = `${shared}data/era-interim-uvz.v3.zarr`;
    const target = join(folder, "uvz.zarr");
    await rechunk(source, target, { chunks: { month: -1, latitude: 61, longitude: 160 } });
    const read = async (store: string) => ((await runPython(verify, store)) as Written).arrays;
    const hashes = (arrays: Written["arrays"]) => arrays.map(({ path, sha256 }) => [path, sha256]);
    const written = await read(target);
    expect(hashes(written)).toEqual(hashes(await read(source)));
    expect(written.find(({ path }) => path === "u")?.chunks).toEqual([2, 1, 61, 160]);
  });

  test.each([
    ["time=0:24", "0:24"],
    ["time=5:700:7,latitude=1:-1:3,longitude=-9:", "5:700:7,1:-1:3,-9:"],
    ["time=-1,latitude=::4", "-1,::4"],
  ])("slice %s as raw bytes and as npy", async (ours, theirs) => {
    const expected = (await runPython("hash_slice.py", era5, "t2m", theirs)) as Hashed;
    const url = `${era5}/t2m`;
    const raw = await zarrflow("slice", url, "--slice", ours, "--format", "raw", "--quiet");
    expect(createHash("sha256").update(raw).digest("hex")).toBe(expected.sha256);
    const npy = join(folder, "slice.npy");
    await zarrflow("slice", url, "--slice", ours, "--format", "npy", "--output", npy, "--quiet");
    expect(await runPython("hash_npy.py", npy)).toEqual(expected);
    rmSync(npy);
  });
});

function withoutChunks(opened: unknown): unknown {
  return JSON.parse(JSON.stringify(opened, (name, value) => (name === "chunks" ? undefined : value)));
}
