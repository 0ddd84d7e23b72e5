import { describe, expect, it } from "vitest";
import { command } from "../../../../src/cli/commands/slice.ts";
import { outputFormat } from "../../../../src/cli/output-names.ts";
import { fileEnding } from "../../../../src/flows/slabs/formats/file-ending.ts";
import {
  formattedPieces,
  SLICE_FORMATS,
  type SliceFormat,
} from "../../../../src/flows/slabs/formats/slice-format.ts";
import { slice } from "../../../../src/flows/slice.ts";
import type { Slice } from "../../../../src/hierarchy/slice.ts";

describe("the list of slice formats", () => {
  it.each(SLICE_FORMATS)(
    "gives the command the choice $name, its help and its file names",
    ({ name, endings, summary }) => {
      const { format } = command.options;
      expect(format?.choices).toContain(name);
      expect(format?.summary).toContain(`${name}: ${summary}`);
      for (const ending of endings) {
        expect(fileEnding(`a.${ending.toUpperCase()}`)).toMatchObject({ kind: "written", format: name });
        expect(outputFormat(`a.${ending}`, undefined)).toBe(name);
      }
    },
  );

  it("has each name and each ending once", () => {
    const names = SLICE_FORMATS.map(({ name }) => name);
    const endings = SLICE_FORMATS.flatMap((format) => [...format.endings] as string[]);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(endings).size).toBe(endings.length);
  });

  it("names its endings where a file name has one that is not written", () => {
    expect(() => outputFormat("a.nc", undefined)).toThrowError(
      expect.objectContaining({
        details: expect.objectContaining({
          hint: `Use a name that ends in ${SLICE_FORMATS.flatMap(({ endings }) => endings.map((ending) => `.${ending}`)).join(", ")}.`,
        }),
      }),
    );
  });

  it("rejects at once a format that it does not have, naming those it has", () => {
    const call = () => formattedPieces([slice("memory:none") as Slice], "xlsx" as SliceFormat);
    expect(call).toThrowError(
      expect.objectContaining({
        code: "invalid-option",
        details: expect.objectContaining({ expected: SLICE_FORMATS.map(({ name }) => name).join(", ") }),
      }),
    );
  });
});
