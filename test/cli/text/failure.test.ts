import { describe, expect, it } from "vitest";
import { failureText } from "../../../src/cli/text/failure.ts";
import { ZarrflowError } from "../../../src/util/errors.ts";

const error = new ZarrflowError("corrupt-chunk", "checksum differs", {
  store: "directory a.zarr",
  path: "t2m",
  key: "t2m/0.3",
  coords: [0, 3],
  codec: "crc32c",
  hint: "copy it again",
});

describe("failureText", () => {
  it("says what, where and the way out, and shows no stack", () => {
    expect(failureText(error)).toBe(
      "zarrflow: chunk 0.3 of `t2m` (key t2m/0.3) codec crc32c: checksum differs\n" +
        "  store: directory a.zarr\n  hint: copy it again",
    );
  });

  it("gives the way out in flags where the library says that a target may be replaced, and else as it is", () => {
    const exists = (hint: string) =>
      failureText(new ZarrflowError("target-exists", "it exists", { store: "directory a", hint }));
    expect(exists("Replace it, or choose another target.")).toContain("hint: Use --if-exists replace");
    expect(exists("Start again.")).toContain("hint: Start again.");
  });

  it("says that a damaged source must be repaired before its run goes on", () => {
    const unfinished = { tasks: 1, allTasks: 2, resume: "copy a b --resume", clean: "clean b" };
    expect(failureText(error, { unfinished })).toContain(
      "to continue, once what is damaged is repaired: copy a b --resume",
    );
  });

  it("is one line of JSON when asked for", () => {
    const text = failureText(error, { json: true });
    expect(text).not.toContain("\n");
    expect(JSON.parse(text).error).toMatchObject({ code: "corrupt-chunk", exitCode: 1, coords: [0, 3] });
  });

  it("colours its name only where colours show", () => {
    const [start] = failureText(error, { color: true }).split(" chunk");
    expect(start).toBe("\u001b[31mzarrflow:\u001b[39m");
  });

  it("calls any other error a fault of its own, with the stack", () => {
    const fault = new TypeError("x is undefined");
    expect(failureText(fault)).toContain("this is a bug in zarrflow");
    expect(failureText(fault)).toContain("failure.test.ts");
    expect(JSON.parse(failureText(fault, { json: true })).error).toMatchObject({
      code: "fault",
      exitCode: 1,
    });
    expect(failureText("thrown text")).toContain("thrown text");
  });
});
