import type { ZarrArray } from "../../hierarchy/node.ts";
import { onlyItem } from "../../meta/assert-json.ts";
import { packingOf } from "../../meta/conventions/cf/packing.ts";
import { type TimeCoding, timeCodingOf } from "../../meta/conventions/cf-time/time-coding.ts";
import { missingValueOf } from "../../meta/conventions/missing-value.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { bytesText } from "../diff/compare-values.ts";
import { type AppendedPair, isCoordinate } from "./pair-arrays.ts";

/**
 * Asserts that items mean the same in source and target: data type, dimensions, missing value, packing, units and
 * calendar. Chunks, codecs and format may differ.
 *
 * @throws `differs` with what does, and both values.
 */
export function assertSameKind(pair: AppendedPair): void {
  const { path, source, target, axis } = pair;
  // a coordinate has no missing values
  const isOfAll = isCoordinate(pair, target.dimensionNames?.[0] ?? "");
  const from = new Map([...kindOf(source, axis)].map((trait) => [trait.what, trait]));
  for (const { what, is, means = is } of kindOf(target, axis)) {
    const other = from.get(what);
    if (isOfAll && what === MISSING) continue;
    if ((other?.means ?? other?.is) === means) continue;
    throw new ZarrflowError("differs", `${what} of the source and of the target differ`, {
      path,
      expected: `${is ?? "none"}, as in the target`,
      found: `${other?.is ?? "none"} in the source`,
      hint: "Nothing was written. Only a source that has the same as the target can be appended.",
    });
  }
}

const MISSING = "the missing values";

interface Trait {
  readonly what: string;
  /** The trait as stated. */
  readonly is: string | undefined;
  /** A text that is equal for equal meanings; by default the trait as stated. */
  readonly means?: string | undefined;
}

function* kindOf(array: ZarrArray, axis: number): Generator<Trait> {
  const { attributes, dataType, dimensionNames, shape, metadata, layout } = array;
  yield { what: "the numbers of dimensions", is: `${shape.length}` };
  yield { what: "the dimensions", is: dimensionNames?.map((name) => name ?? "(no name)").join(", ") };
  yield { what: "the data types", is: dataType };
  for (const [d, size] of shape.entries()) {
    if (d !== axis)
      yield { what: `the lengths of ${dimensionNames?.[d] ?? `dimension ${d}`}`, is: `${size}` };
  }
  const missing = missingValueOf(metadata, layout.zarrFormat);
  yield { what: MISSING, is: missing && bytesText(missing, metadata.dataType) };
  const packing = packingOf(metadata.dataType, attributes);
  yield { what: "scale_factor", is: packing?.scale?.toString() };
  yield { what: "add_offset", is: packing?.offset?.toString() };
  yield { what: "_Unsigned", is: packing?.reread && String(onlyItem(attributes._Unsigned)) };
  yield* timesOf(array);
}

/** Units, and the calendar of times. Their meaning is compared, not their wording, if it is known. */
function* timesOf({ metadata, attributes }: ZarrArray): Generator<Trait> {
  const [units, calendar] = [onlyItem(attributes.units), onlyItem(attributes.calendar)];
  const coding = timesKnown(metadata.dataType, attributes);
  const [zero, one] = [coding?.instantOf(0), coding?.instantOf(1)];
  const isKnown = coding !== undefined && metadata.dataType.kind !== "datetime";
  const is = typeof units === "string" ? units : undefined;
  yield { what: "the units", is, ...(isKnown && { means: `${zero} ${one}` }) };
  const named = typeof calendar === "string" ? calendar : undefined;
  yield { what: "the calendars", is: named, ...(isKnown && { means: coding.calendar.name }) };
}

function timesKnown(...coded: Parameters<typeof timeCodingOf>): TimeCoding | undefined {
  try {
    return timeCodingOf(...coded);
  } catch (error) {
    if (isZarrflowError(error, "unsupported-operation")) return undefined;
    throw error;
  }
}
