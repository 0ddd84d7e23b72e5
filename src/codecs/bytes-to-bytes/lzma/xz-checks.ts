import { crc32 } from "../../../util/crc32.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import { crc64 } from "./crc64.ts";
import { sha256 } from "./sha256.ts";

/** A check of the decoded bytes that xz stores for each block. */
export interface XzCheck {
  /** Its number in the flags of the stream. */
  readonly id: number;
  readonly name: string;
  /** Bytes of the stored check. */
  readonly size: number;
  readonly of: (bytes: Uint8Array) => Uint8Array;
}

export const DEFAULT_CHECK = 4;

const checks: readonly XzCheck[] = [
  { id: 0, name: "none", size: 0, of: () => new Uint8Array(0) },
  { id: 1, name: "CRC-32", size: 4, of: crc32Bytes },
  { id: 4, name: "CRC-64", size: 8, of: crc64 },
  { id: 10, name: "SHA-256", size: 32, of: sha256 },
];

/** @throws `codec-error` if there is no check with this number. */
export function xzCheck(id: number): XzCheck {
  const check = checks.find((one) => one.id === id);
  if (check) return check;
  throw new ZarrflowError("codec-error", "the xz check has an unknown type", {
    expected: checks.map((one) => `${one.id} (${one.name})`).join(", "),
    found: id,
  });
}

function crc32Bytes(bytes: Uint8Array): Uint8Array {
  const sum = new Uint8Array(4);
  new DataView(sum.buffer).setUint32(0, crc32(bytes), true);
  return sum;
}
