import { codecNamed } from "../codecs/catalog.ts";
import { gridShape } from "../meta/array-metadata.ts";
import { innerCodecs } from "../meta/v3/sharding.ts";
import { isListable, type Store } from "../stores/store.ts";
import { objectPlace } from "../stores/store-spec.ts";
import { isZip } from "../stores/store-traits.ts";
import { fromPlain } from "../util/json-value.ts";
import { firstOf } from "../util/names.ts";
import { product } from "../util/shape.ts";
import type { GridSide, NodeWarning, Plan, PlannedCodec } from "./plan.ts";

/** Information that matters before a run, but is no error. */
export interface Warning extends NodeWarning {
  /** The key that it concerns. */
  readonly key?: string;
}

/** Zips with more entries open slowly, even from a local disk, because their whole directory is read first. */
const MANY_ENTRIES = 100_000;
/** Maximum number of findings about a source to list one by one. */
const MAX_FINDINGS = 10;

/** Collects the warnings about a plan. */
export function planWarnings(plan: Plan): Warning[] {
  return [
    ...plan.warnings,
    ...plainWarnings(plan),
    ...zipWarnings(plan),
    ...lossyWarnings(plan),
    ...unlistedWarnings(plan),
    ...leftOutWarnings(plan),
  ];
}

/** The group of an image collection, which has an XML description next to its document. */
const COLLECTION_GROUP = /(?:^|\/)OME\/(?:\.zgroup|zarr\.json)$/;

function leftOutWarnings({ operation, publication }: Plan): Warning[] {
  const { copyKeys, documents } = publication;
  const group = documents.find(({ key }) => COLLECTION_GROUP.test(key));
  if (copyKeys || operation === "slice" || group === undefined) return [];
  return [
    {
      message:
        "the source cannot list its keys: files that are not Zarr, such as OME/METADATA.ome.xml, are not copied",
      key: group.key,
      hint: "Copy such files one by one with another program.",
    },
  ];
}

function unlistedWarnings({ target }: Plan): Warning[] {
  const place = objectPlace(target.store);
  if (place === undefined || isListable(place.store)) return [];
  return [
    {
      message:
        "the target cannot list its keys: leftover chunks there, if any, would become part of the new arrays",
      hint: "Make sure that the target is empty.",
    },
  ];
}

function plainWarnings({ operation, source, jobs, publication, warnings }: Plan): Warning[] {
  const { documents, existing, copyKeys } = publication;
  // a single unsupported node already has a warning
  if (warnings.length > 0) return [];
  if (operation !== "copy" || !copyKeys || existing || jobs.length + documents.length > 0) return [];
  return [
    {
      message: "the source is not a Zarr hierarchy: all keys below it are copied",
      ...(source.path !== "" && { key: source.path }),
    },
  ];
}

function zipWarnings({ jobs, target }: Plan): Warning[] {
  const keys = ({ shape, chunkShape, shardShape }: GridSide) =>
    product(gridShape(shape, shardShape ?? chunkShape));
  const entries = jobs.reduce((sum, job) => sum + keys(job.target), 0);
  if (!isZip(target.store) || entries <= MANY_ENTRIES) return [];
  const directory = Math.round((entries * 70) / 1e6);
  return [
    {
      message: `the zip will have up to ${entries.toLocaleString("en")} entries; opening it means reading a directory of ${directory} MB`,
      hint: "Use --shards (Zarr v3) to store many chunks in one entry.",
    },
  ];
}

/** Warns about lossy codecs that arrays did not have before. */
function lossyWarnings({ jobs }: Plan): Warning[] {
  const arrays = new Map<string, string[]>();
  for (const { source, target, targetPath } of jobs) {
    const before = lossyCodecs(source.codecs);
    for (const [codec, text] of lossyCodecs(target.codecs)) {
      if (before.get(codec) !== text) arrays.set(codec, [...(arrays.get(codec) ?? []), targetPath]);
    }
  }
  return [...arrays].map(([codec, paths]) => ({
    message: `${codec} may change values: ${paths[0] === "" ? "they are" : `those of ${firstOf(paths)} are`} not stored exactly`,
  }));
}

/** The lossy codecs of a list with their settings, including those inside shards. */
function lossyCodecs(codecs: readonly Omit<PlannedCodec, "costClass">[]): Map<string, string> {
  return new Map(
    codecs.flatMap(({ name, configuration }): [string, string][] => {
      const { isLossy, nested } = codecNamed(name) ?? {};
      if (nested !== undefined) return [...lossyCodecs(innerCodecs(fromPlain(configuration[nested])))];
      return isLossy ? [[name, JSON.stringify(configuration)]] : [];
    }),
  );
}

/** Warnings about a source from when it was opened. */
export function sourceWarnings({ findings = [] }: Store): Warning[] {
  const rest = findings.length - MAX_FINDINGS;
  return [
    ...findings.slice(0, MAX_FINDINGS).map(({ key, message }) => ({ key, message })),
    ...(rest > 0
      ? [
          {
            message: `${rest} more warnings of this kind`,
            hint: "Run `zarrflow validate` to list all of them.",
          },
        ]
      : []),
  ];
}
