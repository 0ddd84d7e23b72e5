import type { SlicePlan } from "../../flows/plan-slice.ts";
import { columns, formatShape, printable, takenRows } from "../../flows/text/format.ts";
import type { ZarrArray, ZarrGroup } from "../../hierarchy/node.ts";
import { entryOf, SLICE_FORMATS, type SliceFormat } from "../../tables/slice-format.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { counted } from "../../util/names.ts";
import { redact } from "../../util/redact.ts";
import { formatBytes } from "../../util/units.ts";
import { assertFilesApart } from "../file-output.ts";
import { changesOf, filterOf, planOptions } from "../option-values.ts";
import { assertNamedAsZarr, assertNoRanges, outputFormat } from "../output-names.ts";
import { defineCommand, type FlagValues, type Options } from "../parse-arguments.ts";
import { planAndRun } from "../plan-and-run.ts";
import { printWarnings } from "../progress/event-progress.ts";
import {
  changingOptions,
  filterOptions,
  outputOptions,
  PREVIEWED,
  writingOptions,
} from "../shared-options.ts";
import { writeSlices } from "../slice-output.ts";
import type { Terminal } from "../terminal.ts";
import { toJson } from "../text/results.ts";

const formatNames = SLICE_FORMATS.map(({ name }) => name);

const decodedNames = SLICE_FORMATS.flatMap(({ name, isDecoded }) => (isDecoded ? [name] : []));

const options = {
  slice: {
    type: "string",
    value: "RANGES",
    summary:
      "time=0:24,lat=10:20:2 or 0:24,10:20:2; stops are exclusive; a single index drops its dimension (with a DST it stays, with length 1); labels: time=2019-03-01:2019-03-08,lat=45..50; @ marks an index: time=@2016; everything by default",
  },
  nearest: {
    type: "boolean",
    effect: { with: ["slice"] },
    summary: "if no item has exactly this label, take the nearest one",
  },
  format: {
    type: "string",
    value: "FORMAT",
    choices: formatNames,
    effect: PREVIEWED,
    summary: `${SLICE_FORMATS.map(({ name, summary }) => `${name}: ${summary}`).join("; ")}; by default the format of the extension of --output, or ${formatNames[0]}`,
  },
  decode: {
    type: "string",
    value: "on|off",
    choices: ["on", "off"],
    bare: "on",
    effect: PREVIEWED,
    summary: `apply scale_factor, add_offset, _Unsigned, _FillValue, missing_value and valid_range, and show times as dates; by default on for ${decodedNames.join(", ")}, off for other formats`,
  },
  flags: {
    type: "boolean",
    effect: PREVIEWED,
    summary: "write the names of flags (flag_meanings) in place of their values",
  },
  flat: { type: "boolean", effect: PREVIEWED, summary: "write JSON as one flat list" },
  output: {
    type: "string",
    value: "FILE",
    short: "o",
    effect: PREVIEWED,
    summary: "write to a file, which appears only when it is complete (-o)",
  },
  ...filterOptions,
  strict: {
    type: "boolean",
    effect: { with: ["slice"] },
    summary:
      "reject the slice if a group, or an array that belongs to it, has another length along a sliced dimension and no coordinates that determine the part; by default it is copied whole",
  },
  ...changingOptions,
  ...writingOptions,
  ...outputOptions,
  json: {
    type: "boolean",
    summary:
      "print the plan, or the summary of a file or DST, and errors as JSON (for items as JSON use --format json)",
  },
} as const satisfies Options;

type SliceValues = FlagValues<typeof options>;

export const command = defineCommand({
  usage: "SRC [DST]",
  notes: [
    "With a DST the slice is written as Zarr; a dimension with a single index is kept, with length 1.",
    "A slice of one array includes the coordinates of its dimensions and the arrays that its attributes name, and",
    "DST is then a group. Without any, or with --alone, DST is an array.",
    "Flags that change arrays or control a run, such as --chunks, --to, --alone, --verify and --resume, require",
    "a DST.",
    "Slicing a group requires a DST and dimension names: every array that has one of the dimensions is sliced, and",
    "the others are copied whole. If a group has several resolution levels, ranges count items of the longest one;",
    "the other levels are sliced by their coordinates, or copied whole if they have none.",
    "Labels are looked up in the coordinate of the dimension, in the same group or one above it: a..b includes both",
    "ends; a number has a decimal point (45.0); texts and dates are labels too. 2019-03 means the whole month.",
    "Integers are indices, but one that could be a year is rejected: write 2016..2016 for the year, or @2016 for",
    "the index. If longitudes go around the globe, ranges may cross their seam (-10..10, 350..10); longitudes of",
    "the result increase throughout.",
    "A table has one row per item, with its coordinates. --include and --exclude choose arrays of a group, as",
    "columns of a table or members of an npz file. Arrow and Parquet require the optional packages apache-arrow and",
    "hyparquet-writer.",
    "In JSON, NaN and infinities are strings, complex numbers [re, im], bytes Base64, times a count of their unit",
    'or "NaT", and structures objects. With --decode, missing values are null and times are dates.',
  ],
  operands: [1, 2],
  options,
  examples: [
    {
      line: "slice era5.zarr/t2m --slice time=0:24,latitude=40:60 --format npy --output day.npy",
      says: "a box as a NumPy file",
    },
    {
      line: "slice era5.zarr/t2m --slice time=2024-06-03,latitude=45..50,longitude=10.0 --format json",
      says: "by labels: all times of one day, latitudes from 45 to 50, one longitude",
    },
    {
      line: "slice era5.zarr/t2m --slice time=2024-06-03 --output day.csv",
      says: "a table with the columns time, latitude, longitude and t2m",
    },
    { line: "slice era5.zarr/t2m --slice 0,-1 --format json", says: "first time, last latitude, as JSON" },
    {
      line: "slice era5.zarr/t2m --slice time=::24 | sha256sum",
      says: "every 24th time, piped as raw bytes",
    },
    {
      line: "slice era5.zarr/t2m march.zarr.zip --slice time=1416:2160 --chunks time=-1,latitude=11",
      says: "a smaller Zarr with other chunks: a group with t2m and its coordinates",
    },
    {
      line: "slice era5.zarr day.zarr --slice time=0:24",
      says: "a group: everything that has the dimension time is sliced",
    },
    {
      line: "slice era5.zarr winds.zarr --slice time=0:24 --include '[uv]10'",
      says: "two variables of a group, with their coordinates",
    },
  ],
  async run([url = "", target], values, terminal) {
    if (target !== undefined) return sliceToZarr(url, target, values, terminal);
    assertFileOnly(values);
    const format = outputFormat(values.output, values.format);
    const { openSource } = await import("../../flows/request/open-source.ts");
    const { parseSlice } = await import("../../hierarchy/parse-slice.ts");
    const { openSliceOptions, slice } = await import("../../flows/slice.ts");
    const selection = values.slice === undefined ? {} : parseSlice(values.slice);
    const { ifExists: _, ...planning } = planOptions(values, terminal.signal);
    const { nearest = false } = values;
    const reading = { ...openSliceOptions(planning), nearest, consistent: true };
    const { root, close } = await openSource(url, planning);
    try {
      await assertFilesApart({ output: values.output }, { source: root.spec });
      const { nearestEffects, noteAccess } = await import("../../flows/request/option-effects.ts");
      const onEvent = printWarnings(terminal, values);
      noteAccess({ ...planning, onEvent }, [root.spec]);
      for (const warning of nearestEffects(nearest, selection)) onEvent({ type: "warning", ...warning });
      if (root.kind === "group") {
        const arrays = await arraysOf(root, url, { ...values, format }, terminal);
        const { slicesOf } = await import("../../flows/group-slices.ts");
        return await writeSlices(slicesOf(arrays, selection, reading), { ...values, format }, terminal);
      }
      assertNoFilter(values, url);
      const { readableArray } = await import("../../flows/request/node-findings.ts");
      const array = await readableArray(root, root, { signal: terminal.signal, onEvent });
      if (!values["dry-run"])
        return await writeSlices([slice(array, selection, reading)], { ...values, format }, terminal);
      const { planSlice } = await import("../../flows/plan-slice.ts");
      const { threads: _threads, consistent: _checked, ...planned } = reading;
      const plan = await planSlice(array, selection, planned);
      return await terminal.write(values.json ? `${toJson(plan, 2)}\n` : slicePlanText(plan, redact(url)));
    } finally {
      await close();
    }
  },
});

/**
 * Returns the arrays of a group that go into a file.
 *
 * @throws `invalid-option` for a format that takes one array, and for a table if no flag names its columns
 */
async function arraysOf(
  group: ZarrGroup,
  url: string,
  values: SliceValues & { readonly format: SliceFormat },
  terminal: Terminal,
): Promise<readonly ZarrArray[]> {
  const entry = entryOf(values.format);
  if (!("holds" in entry) || values["dry-run"]) {
    throw new ZarrflowError("invalid-option", `\`${url}\` is a group`, {
      hint:
        values.output === undefined
          ? "Give a DST, or name an array."
          : "Name an array, or write all to .npz.",
    });
  }
  const { arraysIn, arrayNames } = await import("../../flows/group-slices.ts");
  const arrays = await arraysIn(group, filterOf(values), {
    signal: terminal.signal,
    onEvent: printWarnings(terminal, values),
  });
  if (entry.holds === "arrays" || values.include !== undefined) return arrays;
  const [widest] = arrays.toSorted((a, b) => b.shape.length - a.shape.length);
  throw new ZarrflowError(
    "invalid-option",
    `\`${url}\` is a group, and a table needs the names of its arrays`,
    {
      hint: `Name an array, as in ${url}/${widest?.path.split("/").at(-1)}, or several with --include. Its arrays are ${arrayNames(arrays, group)}.`,
    },
  );
}

/** @throws `invalid-option` for flags that choose arrays of a group, if the source is a single array */
function assertNoFilter({ include, exclude }: SliceValues, url: string): void {
  if (include === undefined && exclude === undefined) return;
  const flag = include === undefined ? "exclude" : "include";
  throw new ZarrflowError(
    "invalid-option",
    `--${flag} chooses arrays of a group, and \`${url}\` is an array`,
    { hint: `Omit --${flag}, or name the group.` },
  );
}

async function sliceToZarr(
  source: string,
  target: string,
  values: SliceValues,
  terminal: Terminal,
): Promise<void> {
  const misplaced = (["format", "output", "decode", "flags", "flat"] as const).find(
    (name) => values[name] !== undefined,
  );
  if (misplaced) {
    throw new ZarrflowError("invalid-option", `--${misplaced} applies only to a slice without a DST`, {
      hint: "Omit the flag, or omit DST.",
    });
  }
  assertNoRanges(target);
  assertNamedAsZarr(target);
  const { slice = {}, nearest = false, strict } = values;
  const changes = { ...changesOf(values), ...(strict && { strict }), slice, nearest };
  return planAndRun(source, target, changes, values, terminal);
}

/** @throws `invalid-option` for flags that apply only to a Zarr target. */
function assertFileOnly(values: SliceValues): void {
  const only = [
    "alone",
    "strict",
    "chunks",
    "shards",
    "match",
    "codec",
    "dtype",
    "unpack",
    "pack",
    "fill-value",
    "map",
    "overflow",
    "to",
    "allow-loss",
    "keep-formats",
    "verify",
    "resume",
    "verify-source",
    "fsync",
    "write-empty-chunks",
    "break-lock",
    "max-requests-per-second",
    "bwlimit",
    "store-profile",
    "explain",
    "trace",
    "report",
  ] as const;
  const misplaced = only.find((name) => values[name] !== undefined);
  if (misplaced !== undefined) {
    throw new ZarrflowError("invalid-option", `--${misplaced} applies only to a slice with a DST`, {
      hint: "Give a DST after the source, such as part.zarr.",
    });
  }
  if (values["if-exists"] !== undefined && values.output === undefined) {
    throw new ZarrflowError("invalid-option", "--if-exists has no effect on a slice to standard output", {
      hint: "Add --output FILE or a DST, or omit --if-exists.",
    });
  }
}

/** Describes how a slice will be read in C order, and its cost. */
export function slicePlanText(plan: SlicePlan, name: string): string {
  const { slabs, slabShape, chunksRead, chunksTouched, readAmplification, predictedPeak, maxMemory } = plan;
  const { passes, cost } = plan.job;
  const objects = passes?.reduce((sum, { tasks }) => sum + tasks, 0) ?? 0;
  const scratch = passes && [
    "scratch",
    `${counted(objects, "object")} before the first slab, ${formatBytes(cost?.scratchBytes ?? 0)}`,
  ];
  const rows = [
    ...takenRows(plan.taken),
    ["slabs", `${counted(slabs, "slab")} of ${formatShape(slabShape)}, in C order`],
    ["reads", `${counted(chunksRead, "chunk")}; ${counted(chunksTouched, "chunk")} hold items of it`],
    ["amplification", `each chunk is read ${readAmplification.toFixed(2)} times`],
    ...(scratch ? [scratch] : []),
    ["memory", `${formatBytes(predictedPeak)} predicted, ${formatBytes(maxMemory)} allowed`],
  ];
  return `${printable(name)}  ${plan.dataType} ${formatShape(plan.shape)}\n${columns(rows)}\n`;
}
