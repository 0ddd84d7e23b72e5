import { describe, expect, expectTypeOf, it } from "vitest";
import { type Options, parseArguments, UnknownFlag } from "../../src/cli/parse-arguments.ts";

const options = {
  quiet: { type: "boolean", summary: "" },
  chunks: { type: "string", multiple: true, value: "SIZES", summary: "" },
  mode: { type: "string", choices: ["error", "replace"], summary: "" },
  io: { type: "string", value: "N", summary: "" },
  verify: { type: "string", bare: "written", choices: ["written", "values"], summary: "" },
  output: { type: "string", short: "o", value: "FILE", summary: "" },
  explain: { type: "boolean", effect: { with: ["dry-run", "trial"] }, summary: "" },
  trace: { type: "boolean", effect: { without: ["dry-run"] }, summary: "" },
  fsync: { type: "boolean", effect: { without: ["dry-run"], warns: true }, summary: "" },
  "dry-run": { type: "boolean", summary: "" },
  to: {
    type: "string",
    choices: ["v2", "v3"],
    hint: (value) => (value === "0.5" ? "It is v3." : undefined),
    summary: "",
  },
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
    expect(parse("--verify", "a")).toMatchObject({ operands: ["a"], values: { verify: "written" } });
    expect(parse("--verify=values", "a")).toMatchObject({ operands: ["a"], values: { verify: "values" } });
    const wrong = "invalid value for --verify: keys (expected written, values)";
    expect(() => parse("--verify=keys", "a")).toThrow(wrong);
  });

  it.each(["--quite", "--zzzzzz", "--toString", "-q", "--no-quiet", "--o"])(
    "leaves %s to who knows all commands",
    (flag) => {
      expect(() => parse("a", flag)).toThrow(new UnknownFlag(flag));
    },
  );

  it("takes the letter of a flag", () => {
    expect(parse("a", "-o", "f").values).toEqual({ output: "f" });
  });

  it("warns of a flag that only counts in another run", () => {
    expect(parse("a", "--dry-run", "--fsync").warnings).toEqual(["--fsync has no effect with --dry-run"]);
    expect(parse("a", "--fsync").warnings).toEqual([]);
  });

  it("takes all after -- as operands", () => {
    expect(parse("--", "--quiet", "-x").operands).toEqual(["--quiet", "-x"]);
  });

  it.each([
    [["a", "--quiet=yes"], "--quiet takes no value, but `yes` is given", undefined],
    [["a", "--io"], "--io needs a value", "Write --io N."],
    [["a", "--io", "--quiet"], "--io needs a value", "Write --io N."],
    [["a", "--io", "1", "--io", "2"], "--io is given twice", undefined],
    [
      ["a", "--mode", "replac"],
      "invalid value for --mode: replac (expected error, replace)",
      "Did you mean `replace`?",
    ],
    [["a", "--mode", ""], "the value of --mode is empty", "Write --mode VALUE, or omit the flag."],
    [["a", "--output="], "the value of --output is empty", "Write --output FILE, or omit the flag."],
    [["a", "--verify= "], "the value of --verify is empty", "Write --verify=VALUE, or omit the flag."],
    [["a", "--to", "0.5"], "invalid value for --to: 0.5 (expected v2, v3)", "It is v3."],
    [["a", "--to", "V3"], "invalid value for --to: V3 (expected v2, v3)", "Did you mean `v3`?"],
    [
      ["a", "--explain"],
      "--explain has no effect without --dry-run or --trial",
      "Omit --explain, or add --dry-run or --trial.",
    ],
    [["a", "--dry-run", "--trace"], "--trace has no effect with --dry-run", "Omit one of them."],
    [["a", "-"], "Zarr is neither read from standard input nor written to standard output", undefined],
    [["a", "b", "v3"], "unexpected operand `v3`: the command takes SRC DST", "Did you mean `--to v3`?"],
    [
      ["a", "b", "t=-1,x=4"],
      "unexpected operand `t=-1,x=4`: the command takes SRC DST",
      "Did you mean `--chunks t=-1,x=4`?",
    ],
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
