import { fileEnding, SLICE_FORMATS, type SliceFormat } from "../tables/slice-format.ts";
import { ZarrflowError } from "../util/errors.ts";
import { nearestName } from "../util/names.ts";

const DEFAULT_FORMAT = SLICE_FORMATS[0].name;

/** File endings that name a format. */
const ENDINGS = SLICE_FORMATS.flatMap(({ endings }): readonly string[] => endings);

/**
 * Returns the format of a slice: the one that `--format` or the ending of `--output` names. Both must agree.
 *
 * @throws `invalid-option` if the ending names another format, or one that cannot be written.
 */
export function outputFormat(output: string | undefined, asked: SliceFormat | undefined): SliceFormat {
  if (output === undefined) return asked ?? DEFAULT_FORMAT;
  assertNoStream(output);
  const named = fileEnding(output);
  if (named.kind === "zarr") {
    throw invalid(
      `--output writes a single file, but \`${output}\` names a Zarr store`,
      `Pass it as DST: zarrflow slice SRC ${output}.`,
    );
  }
  if (named.kind === "foreign") {
    throw invalid(
      `slices cannot be written as .${named.ending} files`,
      `Use a name ending in ${ENDINGS.map((ending) => `.${ending}`).join(", ")}.`,
    );
  }
  if (named.kind === "unknown" && asked === undefined) assertNoSlip(output, named.ending);
  if (named.kind !== "written") return asked ?? DEFAULT_FORMAT;
  if (asked === undefined || asked === named.format) return named.format;
  throw invalid(
    `--format ${asked} contradicts the name \`${output}\``,
    `Omit --format for a .${named.ending} file, or change the ending.`,
  );
}

/** @throws `invalid-option` for `-`, which names standard output in other programs. */
function assertNoStream(output: string | undefined): void {
  if (output !== "-") return;
  throw invalid(
    "`--output -` would write a file named `-`",
    "Omit --output for standard output, or use --output ./- for a file.",
  );
}

/**
 * Rejects an ending that is almost the ending of a format. Any other ending means raw bytes. @throws `invalid-option`
 */
function assertNoSlip(output: string, ending: string): void {
  const near = nearestName(ending, ENDINGS);
  if (near === undefined) return;
  throw invalid(
    `the ending of \`${output}\` is not that of a known format`,
    `Did you mean .${near}? Write --format raw for raw bytes in a file of that name.`,
  );
}

/** Endings of files that nobody gives to a store. */
const DOCUMENTS = /^(?:html?|log|md|pdf|py|txt|xml|ya?ml)$/;

const INDEX = String.raw`-?\d*`;
/** A bound as written by users who expect a lookup of coordinates: decimals and dates too. */
const BOUND = String.raw`[-+]?(?:\d[\d.eExXTZ+-]*)?`;
/** One range: of a named dimension, of the next one, or a single index. */
const RANGE = String.raw`(?:[^/\\:=,]+[=:]${BOUND}(?::${BOUND}){0,2}|${BOUND}(?::${BOUND}){1,2}|${INDEX})`;

/**
 * Rejects a DST that looks like ranges: it is hardly meant as the name of a Zarr store.
 *
 * @throws `invalid-option` with both meanings.
 */
export function assertNoRanges(target: string): void {
  if (!/[\d:]/.test(target) || !new RegExp(`^${RANGE}(?:,${RANGE})*$`).test(target)) return;
  throw invalid(
    `\`${target}\` looks like ranges, but is in the place of DST`,
    `For a part use --slice ${target}; for a Zarr store of that name, ./${target}.`,
  );
}

/**
 * Rejects a DST in memory, and one that is named like a file of another format. A trailing slash allows such a name.
 *
 * @throws `invalid-option`, with both meanings.
 */
export function assertNamedAsZarr(target: string): void {
  if (target.startsWith("memory:")) {
    throw invalid(
      `\`${target}\` would be lost when the command ends: it is in the memory of this process`,
      "Write to a folder, a .zip or a bucket.",
    );
  }
  const { kind, ending } = fileEnding(target);
  if (kind !== "written" && kind !== "foreign" && !DOCUMENTS.test(ending)) return;
  const file = kind === "written" ? `\`zarrflow slice SRC --output ${target}\` for a file, or ` : "";
  throw invalid(
    `\`${target}\` would become a Zarr store despite its ending .${ending}`,
    `Write ${file}${target}/ for a Zarr store of that name.`,
  );
}

/** Rejects a report, which is an HTML page, that is named like another file. @throws `invalid-option` */
export function assertNamedAsPage(file: string): void {
  const { ending } = fileEnding(file);
  if (/^(?:html?)?$/.test(ending)) return;
  throw invalid(
    `\`${file}\` would become an HTML page despite its ending .${ending}`,
    `Write --report ${file.slice(0, -ending.length)}html.`,
  );
}

function invalid(reason: string, hint: string): ZarrflowError {
  return new ZarrflowError("invalid-option", reason, { hint });
}
