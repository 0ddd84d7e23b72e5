import type { DataType, Field } from "./data-type.ts";

/** True if two data types represent the same values by the same bytes; ignores the stored byte order of fields. */
export function sameDataType(a: DataType, b: DataType): boolean {
  if (a.kind === "struct" && b.kind === "struct") {
    return a.fields.length === b.fields.length && a.fields.every((field, i) => sameField(field, b.fields[i]));
  }
  const plain = ({ kind, ...rest }: DataType) =>
    JSON.stringify([kind, ...Object.entries(rest).sort().flat()]);
  return plain(a) === plain(b);
}

/** True if the fields of two such data types have the same own byte orders. */
export function sameFieldOrders(a: DataType, b: DataType): boolean {
  if (a.kind !== "struct" || b.kind !== "struct") return true;
  return a.fields.every((field, i) => {
    const other = b.fields[i];
    return field.endian === other?.endian && other && sameFieldOrders(field.dataType, other.dataType);
  });
}

function sameField(a: Field, b: Field | undefined): boolean {
  if (b === undefined) return false;
  return (
    a.name === b.name && `${a.shape ?? ""}` === `${b.shape ?? ""}` && sameDataType(a.dataType, b.dataType)
  );
}
