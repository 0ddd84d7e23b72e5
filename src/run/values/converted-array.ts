import { ownCodec } from "../../codecs/registry.ts";
import { ZarrArray } from "../../hierarchy/node.ts";
import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import { type DataTypeName, describeDataType } from "../../meta/data-type-name.ts";
import { parseDataTypeOption } from "../../meta/data-type-option.ts";
import { isNumber, type Numbers, numberKindOf, readNumber } from "../../meta/number-kinds.ts";
import { CONVERT_VALUES } from "../../meta/shards.ts";
import type { PlannedConversion } from "../../plan/plan.ts";
import type { Store } from "../../stores/store.ts";
import { fromBase64 } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { decoderOf, numberCodingOf } from "../slabs/decoder.ts";
import type { TypedValues } from "../slabs/typed-values.ts";
import type { NumberList } from "./cast-numbers.ts";
import { type Conversion, conversionCodec } from "./convert-values.ts";
import { loadPlannedMap, type ValueMap } from "./value-map.ts";

/** Maps that are functions, for plans of this process. */
const functions = new WeakMap<PlannedConversion, ValueMap>();

/** Keeps the function of a planned conversion while the plan is in use in this process. */
export function keepFunction(planned: PlannedConversion, map: ValueMap): void {
  functions.set(planned, map);
}

/**
 * Returns an array whose values are converted when they are read.
 *
 * @throws `plan-mismatch`, `invalid-option` for a map that cannot be loaded
 */
export async function convertedArray<S extends Store>(
  array: ZarrArray<DataTypeName, S>,
  planned: PlannedConversion,
): Promise<ZarrArray<DataTypeName, S>> {
  const map = planned.map && (functions.get(planned) ?? (await loadPlannedMap(planned.map)));
  const { store, spec, layout, documents, stored, findings, reading } = array;
  const metadata = convertedMetadata(array.metadata, planned, conversionOf(array, planned, map));
  return new ZarrArray({ store, spec, layout, documents, stored, findings, reading, metadata });
}

/**
 * Metadata of an array whose values are converted when read: the new type, and a converting codec before the others.
 */
export function convertedMetadata(
  metadata: ArrayMetadata,
  planned: PlannedConversion,
  conversion: Conversion,
): ArrayMetadata {
  const config = {
    name: CONVERT_VALUES,
    configuration: {
      from: describeDataType(conversion.from),
      to: planned.dataType,
      ...(planned.unpack && { unpack: true }),
      ...(planned.map && { map: conversion.mapName ?? "function" }),
      ...(planned.pack && { pack: planned.pack }),
    },
  };
  return {
    ...metadata,
    dataType: conversion.to,
    fillValue: { bytes: conversion.toFill },
    codecs: [ownCodec(config, conversionCodec(conversion)), ...metadata.codecs],
  };
}

type Convertible = Pick<ZarrArray, "path" | "metadata" | "attributes" | "layout">;

/** The conversion of an array's values according to the plan. */
export function conversionOf(
  array: Convertible,
  planned: PlannedConversion,
  map: ValueMap | undefined,
): Conversion {
  const { dataType: from, fillValue } = array.metadata;
  const { dataType: to } = parseDataTypeOption(planned.dataType);
  if (!isNumber(from) || !isNumber(to)) {
    throw new ZarrflowError("unsupported-operation", "only numbers can be converted", {
      path: array.path,
      found: describeDataType(isNumber(from) ? to : from),
    });
  }
  const toFill = planned.fillValue === null ? null : (fromBase64(planned.fillValue) ?? null);
  // Unpacked missing values are NaN.
  const listed = planned.unpack ? [] : (numberCodingOf(array)?.missing ?? []);
  const mapName = planned.map && "module" in planned.map ? planned.map.module : undefined;
  return {
    from,
    to,
    fromFill: fillValue.bytes,
    toFill,
    unpack: planned.unpack && unpackerOf(array),
    missing: planned.replaceMissing && { listed },
    map,
    mapName,
    pack: planned.pack && {
      ...planned.pack,
      missing: toFill ? Number(readNumber(toFill, numberKindOf(to))) : 0,
    },
    overflow: planned.overflow ?? "error",
  };
}

function unpackerOf(array: Convertible): Conversion["unpack"] {
  const { decode } = decoderOf(array, { decode: true });
  return decode && ((values: Numbers) => decode(values as TypedValues) as NumberList);
}
