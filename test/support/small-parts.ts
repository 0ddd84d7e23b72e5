import { beforeEach, vi } from "vitest";
import * as memory from "../../src/stores/store-traits.ts";

/** In the tests of a file that calls this, S3 is given values in parts of so few bytes, in place of 8 MiB. */
export function withParts(bytes: number): void {
  beforeEach(() => {
    const held = (kind: string) => (kind === "s3" ? bytes : 0);
    const spies = [
      vi.spyOn(memory, "S3_PART_BYTES", "get").mockReturnValue(bytes),
      vi.spyOn(memory, "partBytes").mockReturnValue(bytes),
      vi.spyOn(memory, "writerMemory").mockImplementation(({ kind }) => held(kind)),
      vi
        .spyOn(memory, "buildMemory")
        .mockImplementation((spec) => (spec.kind === "zip-value" ? held(spec.store.kind) : 0)),
    ];
    return () => {
      for (const spy of spies) spy.mockRestore();
    };
  });
}
