import type { DataType as ArrowType, Data, RecordBatch } from "apache-arrow";
import type { Slice } from "../hierarchy/slice.ts";
import type { DataType } from "../meta/data-type.ts";
import { machine } from "../run/machine.node.ts";
import type { DecodedValues } from "../run/slabs/decoder.ts";
import type { ValueDecodingOptions } from "../run/slabs/raw.ts";
import { binaryColumn, loadPackage, type PlainColumn, plainColumn, validity } from "./plain-values.ts";
import { openTable } from "./table.ts";

/** Maximum number of rows of a record batch. */
const MAX_ROWS = 2 ** 16;

type Arrow = typeof import("apache-arrow");

/**
 * Writes slices as a table in Arrow IPC, with the package `apache-arrow`: as a file, which has an index at its end, or
 * as a stream.
 *
 * @throws `unsupported-operation` if the package is not installed
 */
export async function* arrowPieces(
  slices: readonly Slice[],
  { decode = true, flags }: ValueDecodingOptions,
  form: "file" | "stream",
): AsyncGenerator<Uint8Array> {
  const arrow = await loadPackage(machine?.arrow, "apache-arrow@21", "Arrow");
  const table = await openTable(slices, { decode, flags });
  try {
    const columns = table.columns.map((column) => ({ column, ...plainColumn(column, decode) }));
    const fields = columns.map(
      ({ column: { name }, type }) => new arrow.Field(name, arrowType(arrow, type), true),
    );
    const schema = new arrow.Schema(fields);
    const written: Uint8Array[] = [];
    const sink = new arrow.AsyncByteQueue();
    sink.write = (piece) => {
      written.push(piece as Uint8Array);
    };
    const writer = form === "file" ? new arrow.RecordBatchFileWriter() : new arrow.RecordBatchStreamWriter();
    writer.reset(sink, schema);
    const bytesPerRow = 32 * columns.length;
    const rowsAtOnce = Math.max(1, Math.min(MAX_ROWS, Math.floor(table.memory / 4 / bytesPerRow)));
    for await (const rows of table.rows(rowsAtOnce)) {
      const children = columns.map((one, i) =>
        arrowData(arrow, fields[i]?.type as ArrowType, one, one.valuesOf(rows)),
      );
      const data = arrow.makeData({
        type: new arrow.Struct(fields),
        length: rows.count,
        nullCount: 0,
        children,
      });
      writer.write(new arrow.RecordBatch(schema, data) as RecordBatch);
      yield* written.splice(0);
    }
    writer.finish();
    yield* written.splice(0);
  } finally {
    await table.close();
  }
}

function arrowType(arrow: Arrow, type: DataType): ArrowType {
  switch (type.kind) {
    case "bool":
      return new arrow.Bool();
    case "int":
      return new { 1: arrow.Int8, 2: arrow.Int16, 4: arrow.Int32, 8: arrow.Int64 }[type.size]();
    case "uint":
      return new { 1: arrow.Uint8, 2: arrow.Uint16, 4: arrow.Uint32, 8: arrow.Uint64 }[type.size]();
    case "float":
      return type.size === 8 ? new arrow.Float64() : new arrow.Float32();
    case "datetime":
      return new arrow.Timestamp(unitOf(arrow, type.unit), null);
    case "timedelta":
      return new arrow.Duration(unitOf(arrow, type.unit));
    case "binary":
      return new arrow.Binary();
    default:
      return new arrow.Utf8();
  }
}

function unitOf({ TimeUnit }: Arrow, unit: string) {
  const units: Readonly<Record<string, number>> = {
    s: TimeUnit.SECOND,
    ms: TimeUnit.MILLISECOND,
    ns: TimeUnit.NANOSECOND,
  };
  return units[unit] ?? TimeUnit.MICROSECOND;
}

/** Converts values to the buffers of a column. */
function arrowData(arrow: Arrow, type: ArrowType, column: PlainColumn, values: DecodedValues): Data {
  const { length } = values;
  const { nullBitmap, nullCount } = validity(values, column.isMissing);
  const common = { length, nullCount, nullBitmap };
  if (column.type.kind === "string" || column.type.kind === "binary") {
    const { bytes: data, offsets: valueOffsets } = binaryColumn(values);
    return arrow.makeData({ type: type as InstanceType<Arrow["Utf8"]>, ...common, valueOffsets, data });
  }
  const numbers = values as Uint8Array;
  const data = column.type.kind === "bool" ? bitsOf(length, (i) => numbers[i] !== 0) : numbers;
  return arrow.makeData({ type: type as InstanceType<Arrow["Uint8"]>, ...common, data });
}

function bitsOf(length: number, isSet: (i: number) => boolean): Uint8Array {
  const bits = new Uint8Array(Math.ceil(length / 8));
  for (let i = 0; i < length; i++) if (isSet(i)) bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7));
  return bits;
}
