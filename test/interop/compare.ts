import type { ErrorCode, ZarrNode } from "../../src/index.ts";

/** What came of a case: `right`; what else it gives in words, an error or data where there should be an error; or wrong. */
export type Outcome =
  | "right"
  | { readonly gives: ErrorCode | "read"; readonly message: string }
  | { readonly wrong: string };

/** As the reference library shows them: dimension names that lie among the attributes stay there. */
export function attributesOf(node: ZarrNode): unknown {
  const names = node.kind === "array" && node.layout.zarrFormat !== "v3" ? node.dimensionNames : undefined;
  return names ? { ...node.attributes, _ARRAY_DIMENSIONS: names } : node.attributes;
}

export function jsonValue(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
}

/** Whether both say the same as JSON, the order of names aside. */
export function equal(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item) => {
    if (typeof item === "bigint") return Number(item);
    if (typeof item === "number" && !Number.isFinite(item)) return String(item);
    if (item && typeof item === "object" && !Array.isArray(item)) {
      return Object.fromEntries(Object.entries(item).sort(([x], [y]) => (x < y ? -1 : 1)));
    }
    return item;
  });
}
