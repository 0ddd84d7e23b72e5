import type { Slice } from "../hierarchy/slice.ts";
import type { DataType } from "../meta/data-type.ts";
import { machine } from "../run/machine.node.ts";
import type { DecodedValues } from "../run/slabs/decoder.ts";
import type { ValueDecodingOptions } from "../run/slabs/raw.ts";
import { loadPackage, type PlainColumn, plainColumn } from "./plain-values.ts";
import { openTable } from "./table.ts";

type Writer = typeof import("hyparquet-writer").ParquetWriter;
type SchemaElement = ConstructorParameters<Writer>[0]["schema"][number];

/** Maximum number of rows of a row group. */
const MAX_ROWS = 2 ** 18;
/** Estimated memory of a value during encoding: its list, dictionary and pages. */
const BYTES_PER_VALUE = 64;

/**
 * Writes slices as a table in a Parquet file, with the package `hyparquet-writer`, row group by row group.
 *
 * @throws `unsupported-operation` if the package is not installed
 */
export async function* parquetPieces(
  slices: readonly Slice[],
  { decode = true, flags }: ValueDecodingOptions,
): AsyncGenerator<Uint8Array> {
  const { ByteWriter, ParquetWriter } = await loadPackage(
    machine?.parquet,
    "hyparquet-writer@0.17",
    "Parquet",
  );
  const table = await openTable(slices, { decode, flags });
  try {
    const columns = table.columns.map((column) => ({ name: column.name, ...plainColumn(column, decode) }));
    const schema: SchemaElement[] = [
      { name: "root", num_children: columns.length },
      ...columns.map(
        ({ name, type }): SchemaElement => ({ name, repetition_type: "OPTIONAL", ...elementOf(type) }),
      ),
    ];
    const writer = new ByteWriter();
    const file = new ParquetWriter({ writer, schema, createdBy: "zarrflow" });
    /** Returns the bytes written since the last call, and resets the writer's buffer. */
    const taken = () => {
      const bytes = writer.getBytes().slice();
      writer.index = 0;
      return bytes;
    };
    const rowsAtOnce = Math.floor(table.memory / BYTES_PER_VALUE / columns.length);
    const most = Math.max(1, Math.min(MAX_ROWS, rowsAtOnce));
    let group = columns.map((): DecodedValues[] => []);
    let count = 0;
    const flush = () => {
      const columnData = columns.map(({ name, ...column }, i) => {
        const data = dataOf(column, group[i] ?? []);
        const isPlain = column.type.kind === "float" && hasNegativeZero(data);
        return { name, data, ...(isPlain && ({ encoding: "PLAIN" } as const)) };
      });
      file.write({ columnData, rowGroupSize: count });
      group = columns.map(() => []);
      count = 0;
      return taken();
    };
    for await (const rows of table.rows(most)) {
      if (count + rows.count > most) yield flush();
      for (const [i, { valuesOf }] of columns.entries()) group[i]?.push(kept(valuesOf(rows)));
      count += rows.count;
    }
    if (count > 0) yield flush();
    file.finish();
    yield taken();
  } finally {
    await table.close();
  }
}

/** Copies values that must remain valid when the next rows are read. */
function kept(values: DecodedValues): DecodedValues {
  return ArrayBuffer.isView(values) ? values.slice() : Array.from(values as Iterable<string | null>);
}

/** The values of a row group in the form that the writer takes: missing ones are null. */
function dataOf({ type, isMissing }: PlainColumn, parts: readonly DecodedValues[]) {
  const toValue = type.kind === "bool" ? Boolean : (value: unknown) => value;
  const data: unknown[] = [];
  for (const part of parts) {
    for (let i = 0; i < part.length; i++) {
      const value = part.at(i);
      data.push(isMissing(value) ? null : toValue(value));
    }
  }
  return data;
}

/** The writer's dictionary treats -0 and 0 as equal and keeps whichever comes first. */
function hasNegativeZero(data: readonly unknown[]): boolean {
  return data.some((value) => Object.is(value, -0));
}

function elementOf(type: DataType): Partial<SchemaElement> {
  switch (type.kind) {
    case "bool":
      return { type: "BOOLEAN" };
    case "int":
    case "uint": {
      const isSigned = type.kind === "int";
      const bits = 8 * type.size;
      const physical = type.size === 8 ? "INT64" : "INT32";
      if (isSigned && bits >= 32) return { type: physical };
      return {
        type: physical,
        converted_type: `${isSigned ? "INT" : "UINT"}_${bits}` as NonNullable<
          SchemaElement["converted_type"]
        >,
      };
    }
    case "float":
      return { type: type.size === 8 ? "DOUBLE" : "FLOAT" };
    case "datetime": {
      const unit = type.unit === "ns" ? "NANOS" : type.unit === "ms" ? "MILLIS" : "MICROS";
      return { type: "INT64", logical_type: { type: "TIMESTAMP", isAdjustedToUTC: false, unit } };
    }
    case "timedelta":
      return { type: "INT64" };
    case "binary":
      return { type: "BYTE_ARRAY" };
    default:
      return { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } };
  }
}
