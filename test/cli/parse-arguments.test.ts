import { describe, expect, expectTypeOf, it } from "vitest";
import { type Options, parseArguments } from "../../src/cli/parse-arguments.ts";

const options = {
  quiet: { type: "boolean", summary: "" },
  chunks: { type: "string", multiple: true, value: "SIZES", summary: "" },
  mode: { type: "string", choices: ["error", "replace"], summary: "" },
  io: { type: "string", value: "N", summary: "" },
  verify: { type: "string", bare: "written", choices: ["written", "values"], summary: "" },
} as const satisfies Options;

const parse = (...args: string[]) => parseArguments(args, { usage: "SRC DST", operands: [1, 2], options });

describe("parseArguments", () => {
  it("splits operands and flags, in any order", () => {
    const { operands, values } = parse("--io=4", "a", "--quiet", "b", "--mode", "replace");
    expect(operands).toEqual(["a", "b"]);
    expect(values).toEqual({ io: "4", quiet: true, mode: "replace" });
    expectTypeOf(values.mode).toEqualTypeOf<"error" | "replace" | undefined>();
    expectTypeOf(values.chunks).toEqualTypeOf<readonly string[] | undefined>();
    expectTypeOf(values.quiet).toEqualTypeOf<boolean | undefined>();
  });

  it("gathers flags that may be repeated", () => {
    expect(parse("a", "--chunks", "t=1", "--chunks=u=2").values.chunks).toEqual(["t=1", "u=2"]);
  });

  it("takes values that begin with a dash", () => {
    expect(parse("a", "--chunks", "-1,16").values.chunks).toEqual(["-1,16"]);
  });

  it("takes a flag with a default without a value, and another value after an equals sign only", () => {
    expect(parse("--verify", "a")).toEqual({ operands: ["a"], values: { verify: "written" } });
    expect(parse("--verify=values", "a")).toEqual({ operands: ["a"], values: { verify: "values" } });
    const wrong = "invalid value for --verify: keys (expected written, values)";
    expect(() => parse("--verify=keys", "a")).toThrow(wrong);
  });

  it("takes all after -- as operands", () => {
    expect(parse("--", "--quiet", "-x").operands).toEqual(["--quiet", "-x"]);
  });

  it.each([
    [["a", "--quite"], "unknown flag `--quite`", "Did you mean `--quiet`?"],
    [
      ["a", "--zzzzzz"],
      "unknown flag `--zzzzzz`",
      "The flags are --quiet, --chunks, --mode, --io, --verify.",
    ],
    [["a", "--toString"], "unknown flag `--toString`", undefined],
    [["a", "-q"], "unknown flag `-q`", undefined],
    [
      ["a", "--no-quiet"],
      "unknown flag `--no-quiet`",
      "The flags are --quiet, --chunks, --mode, --io, --verify.",
    ],
    [["a", "--quiet=yes"], "--quiet takes no value, but `yes` is given", undefined],
    [["a", "--io"], "--io needs a value", "Write --io N."],
    [["a", "--io", "--quiet"], "--io needs a value", "Write --io N."],
    [["a", "--io", "1", "--io", "2"], "--io is given twice", undefined],
    [
      ["a", "--mode", "replac"],
      "invalid value for --mode: replac (expected error, replace)",
      "Did you mean `replace`?",
    ],
    [["a", "--mode", ""], "invalid value for --mode:  (expected error, replace)", undefined],
    [[], "missing operand: the command takes SRC DST", undefined],
    [["a", "b", "c"], "unexpected operand `c`: the command takes SRC DST", undefined],
  ])("refuses %j", (args, reason, hint) => {
    let thrown: unknown;
    try {
      parse(...args);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: "invalid-option", reason });
    if (hint !== undefined) expect(thrown).toHaveProperty("details.hint", hint);
  });
});
