import { assertItemSize } from "./assert-json.ts";
import { type Field, isFixed } from "./data-type.ts";
import { fieldItems } from "./element-order.ts";

/** Size of packed fields in bytes. @throws `resource-limit` */
export function structSize(fields: readonly Field[], pointer: string): number {
  const sizes = fields.map((field) =>
    isFixed(field.dataType) ? field.dataType.size * fieldItems(field) : 0,
  );
  const size = sizes.reduce((sum, n) => sum + n, 0);
  assertItemSize(size, pointer);
  return size;
}
