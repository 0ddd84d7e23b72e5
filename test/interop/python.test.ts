import { createHash } from "node:crypto";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { convert, rechunk } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { zarrflow } from "../support/cli.ts";
import { hasPython, type ReadByZarrPython, readByZarrPython, runPython } from "./python.ts";
import { hasShared, knownDigests, shared } from "./shared.ts";

const era5 = `${shared}data/era5-uk-t2m.zarr`;
const folder = temporaryFolder();
const SERIES = "time=744,latitude=11,longitude=7";

interface Hashed {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly sha256: string;
}

describe.runIf(hasPython && hasShared)("what the command writes, read by Python", () => {
  const sha256 = (array: string) => knownDigests("era5-uk-t2m.zarr")[array];
  let source: ReadByZarrPython;
  let opened: unknown;
  beforeAll(async () => {
    source = await readByZarrPython(era5);
    opened = await runPython("open_dataset.py", era5);
  });
  const values = ({ arrays }: ReadByZarrPython) =>
    arrays.map(({ path, chunks, sha256 }) => [path, chunks, sha256]);

  test("zarr-python reads an array that was rechunked into a zip", async () => {
    const zip = join(folder.path, "t2m.zarr.zip");
    await zarrflow("rechunk", `${era5}/t2m`, zip, "--chunks", SERIES, "--quiet");
    expect(values(await readByZarrPython(zip))).toEqual([["", [744, 11, 7], sha256("t2m")]]);
    expect(`${await zarrflow("digest", zip)}`).toContain(sha256("t2m"));
  });

  test.each(["series.zarr", "series.zarr.zip"])(
    "zarr-python, tensorstore, and xarray by its consolidated metadata, read a group rechunked into %s",
    async (name) => {
      const target = join(folder.path, name);
      await zarrflow("rechunk", era5, target, "--chunks", SERIES, "--quiet");
      const written = await readByZarrPython(target);
      expect(written.groups).toEqual(source.groups);
      expect(values(written)).toEqual([
        ["latitude", [33], sha256("latitude")],
        ["longitude", [49], sha256("longitude")],
        ["t2m", [744, 11, 7], sha256("t2m")],
        ["time", [744], sha256("time")],
      ]);
      expect(written.arrays.map(({ attributes }) => attributes)).toEqual(
        source.arrays.map(({ attributes }) => attributes),
      );
      const found = await runPython("open_dataset.py", target);
      expect(found).toMatchObject({
        times: ["2019-03-01T00:00:00", "2019-03-31T23:00:00"],
        variables: { t2m: { chunks: [744, 11, 7], dimensions: ["time", "latitude", "longitude"] } },
      });
      expect(withoutChunks(found)).toEqual(withoutChunks(opened));
      const arrays = ["latitude", "longitude", "t2m", "time"];
      const digests = await runPython("hash_tensorstore.py", target, ...arrays);
      expect(digests).toEqual(Object.fromEntries(arrays.map((array) => [array, sha256(array)])));
    },
  );

  test("zarr-python and xarray read the group converted to v3", async () => {
    const target = join(folder.path, "era5.v3.zarr");
    await convert(era5, target, { to: "v3" });
    expect(values(await readByZarrPython(target, 3))).toEqual(values(source));
    expect(await runPython("open_dataset.py", target)).toEqual(opened);
  });

  test("zarr-python reads a v3 group that was rechunked", async () => {
    const winds = `${shared}data/era-interim-uvz.v3.zarr`;
    const target = join(folder.path, "uvz.zarr");
    await rechunk(winds, target, { chunks: { month: -1, latitude: 61, longitude: 160 } });
    const [{ arrays: before }, { arrays: after }] = [
      await readByZarrPython(winds),
      await readByZarrPython(target),
    ];
    const hashes = (arrays: typeof before) => arrays.map(({ path, sha256 }) => [path, sha256]);
    expect(hashes(after)).toEqual(hashes(before));
    expect(after.find(({ path }) => path === "u")?.chunks).toEqual([2, 1, 61, 160]);
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
    const npy = join(folder.path, `${theirs}.npy`);
    await zarrflow("slice", url, "--slice", ours, "--format", "npy", "--output", npy, "--quiet");
    expect(await runPython("hash_npy.py", npy)).toEqual(expected);
  });
});

function withoutChunks(opened: unknown): unknown {
  return JSON.parse(JSON.stringify(opened, (name, value) => (name === "chunks" ? undefined : value)));
}
