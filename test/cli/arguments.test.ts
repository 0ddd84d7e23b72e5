import { describe, expect, expectTypeOf, it } from "vitest";
import { type Options, parseArguments, UnknownFlag } from "../../src/cli/parse-arguments.ts";
import { headersOf, planAccessOf } from "../../src/cli/shared-options.ts";
import { withoutSecretFlags } from "../../src/cli/text/failure.ts";
import { valueChangesOf } from "../../src/cli/value-options.ts";

const options = {
  quiet: { type: "boolean", summary: "" },
  chunks: { type: "string", multiple: true, value: "SIZES", summary: "" },
  mode: { type: "string", choices: ["error", "replace"], summary: "" },
  io: { type: "string", alias: "requests", value: "N", summary: "" },
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

const parse = (line: string, ...more: string[]) =>
  parseArguments([...line.split(" ").filter(Boolean), ...more], {
    usage: "SRC DST",
    operands: [1, 2],
    options,
  });

describe("a line", () => {
  it("splits into operands and flags, in any order", () => {
    const { operands, values } = parse("--io=4 a --quiet b --mode replace");
    expect(operands).toEqual(["a", "b"]);
    expect(values).toEqual({ io: "4", quiet: true, mode: "replace" });
    expectTypeOf(values.mode).toEqualTypeOf<"error" | "replace" | undefined>();
    expectTypeOf(values.chunks).toEqualTypeOf<readonly string[] | undefined>();
    expectTypeOf(values.quiet).toEqualTypeOf<boolean | undefined>();
  });

  it.each([
    ["a --chunks t=1 --chunks=u=2", { chunks: ["t=1", "u=2"] }],
    ["a --chunks -1,16", { chunks: ["-1,16"] }],
    ["--verify a", { verify: "written" }],
    ["--verify=values a", { verify: "values" }],
    ["a -o f", { output: "f" }],
    ["a --requests 4", { io: "4" }],
    ["a --requests=4", { io: "4" }],
  ])("%s: %j", (line, values) => {
    expect(parse(line)).toMatchObject({ operands: ["a"], values });
  });

  it("has nothing but operands after --", () => {
    expect(parse("-- --quiet -x").operands).toEqual(["--quiet", "-x"]);
  });

  it.each(["--quite", "--zzzzzz", "--toString", "-q", "--no-quiet", "--o", "--undefined"])(
    "with %s is left to who knows all commands",
    (flag) => {
      expect(() => parse("a", flag)).toThrow(new UnknownFlag(flag));
    },
  );

  it("warns of a flag that only counts in another run", () => {
    expect(parse("a --dry-run --fsync").warnings).toEqual(["--fsync has no effect with --dry-run"]);
    expect(parse("a --fsync").warnings).toEqual([]);
  });

  const unexpected = (what: string) => `unexpected operand \`${what}\`: the command takes SRC DST`;
  const stream = "Zarr cannot be read from standard input or written to standard output";
  it.each([
    ["a --quiet=yes", "--quiet takes no value, but was given `yes`", undefined],
    ["a --io", "--io needs a value", "Write --io N."],
    ["a --io --quiet", "--io needs a value", "Write --io N."],
    ["a --io 1 --io 2", "--io is given twice", undefined],
    [
      "a --mode replac",
      "invalid value for --mode: replac (expected error, replace)",
      "Did you mean `replace`?",
    ],
    ["a --verify=keys", "invalid value for --verify: keys (expected written, values)", undefined],
    ["a --output=", "the value of --output is empty", "Write --output FILE, or omit the flag."],
    ["a --mode=", "the value of --mode is empty", "Write --mode VALUE, or omit the flag."],
    ["a --to 0.5", "invalid value for --to: 0.5 (expected v2, v3)", "It is v3."],
    ["a --to V3", "invalid value for --to: V3 (expected v2, v3)", "Did you mean `v3`?"],
    [
      "a --explain",
      "--explain has no effect without --dry-run or --trial",
      "Omit --explain, or add --dry-run or --trial.",
    ],
    ["a --dry-run --trace", "--trace has no effect with --dry-run", "Omit one of them."],
    ["a -", stream, undefined],
    ["a b v3", unexpected("v3"), "Did you mean `--to v3`?"],
    ["a b t=-1,x=4", unexpected("t=-1,x=4"), "Did you mean `--chunks t=-1,x=4`?"],
    ["", "missing operand: the command takes SRC DST", undefined],
    ["a b c", unexpected("c"), undefined],
  ])("%s is refused", (line, reason, hint) => {
    const details = expect.objectContaining(hint === undefined ? {} : { hint });
    const refusal = expect.objectContaining({ code: "invalid-option", reason, details });
    expect(() => parse(line)).toThrow(refusal);
  });

  it("with a flag of blanks alone is refused", () => {
    expect(() => parse("a", "--verify= ")).toThrow("the value of --verify is empty");
  });
});

describe("flags that change values", () => {
  const at = (path: string, change: object) => ({ [path]: change });
  const scaled = (dataType: string, scale: number, offset: number) => ({ pack: { dataType, scale, offset } });
  it.each([
    [{ dtype: ["float32"] }, at("*", { dataType: "float32" })],
    [{ dtype: ["a/b:float32", "t*:int16"] }, { "a/b": { dataType: "float32" }, "t*": { dataType: "int16" } }],
    [{ dtype: ["t:datetime64[s]"] }, at("t", { dataType: "datetime64[s]" })],
    [{ unpack: ["*", "t"] }, { "*": { unpack: true }, t: { unpack: true } }],
    [{ pack: ["t:int16"] }, at("t", { pack: "int16" })],
    [{ pack: ["int16,0.5"] }, at("*", scaled("int16", 0.5, 0))],
    [{ pack: ["t:uint8,0.5,-3"] }, at("t", scaled("uint8", 0.5, -3))],
    [{ "fill-value": ["-9999", "t:NaN"] }, { "*": { fillValue: -9999 }, t: { fillValue: "NaN" } }],
    [{ "fill-value": ["true"] }, at("*", { fillValue: true })],
    [{ "fill-value": ["18446744073709551615"] }, at("*", { fillValue: 2n ** 64n - 1n })],
    [{ map: ["./c.mjs"] }, at("*", { map: "./c.mjs" })],
    [{ map: ["t:./c.mjs"] }, at("t", { map: "./c.mjs" })],
    [{ map: ["https://a.example/c.mjs"] }, at("*", { map: "https://a.example/c.mjs" })],
    [{ map: ["t:file:///c.mjs"] }, at("t", { map: "file:///c.mjs" })],
    [{ map: ["C:\\c.mjs", "t:C:\\c.mjs"] }, { "*": { map: "C:\\c.mjs" }, t: { map: "C:\\c.mjs" } }],
    [
      { dtype: ["t:int8"], "fill-value": ["t:3"], overflow: "clamp" },
      at("t", { dataType: "int8", fillValue: 3, overflow: "clamp" }),
    ],
  ])("%j", (flags, arrays) => {
    expect(valueChangesOf(flags as Parameters<typeof valueChangesOf>[0])).toEqual({ arrays });
  });

  it("are nothing where there are none", () => {
    expect(valueChangesOf({} as Parameters<typeof valueChangesOf>[0])).toEqual({});
  });
});

describe("headers", () => {
  const SECRET = "hunter2";

  it("are taken apart, and what is none is refused without showing it", () => {
    expect(headersOf(["A: b: c", "a:d"])).toEqual({ headers: { a: "b: c, d" } });
    expect(headersOf([])).toEqual({});
    for (const text of [SECRET, `: ${SECRET}`, "a:", `a b: ${SECRET}`, `a: ${SECRET}\n\x01`]) {
      const message = expect.not.stringContaining(SECRET);
      const refusal = expect.objectContaining({ code: "invalid-option", message });
      expect(() => headersOf([text])).toThrow(refusal);
    }
    expect(planAccessOf({ query: "a=b" })).toEqual({ query: "a=b" });
  });

  it("and other values of flags that are secret are left out of a command", () => {
    const header = `A: ${SECRET}`;
    const words = [
      "copy",
      "a",
      "--header",
      header,
      `--header=${header}`,
      "--query",
      SECRET,
      "--header",
      "@f",
    ];
    const shown = "copy a --header *** --header=*** --query *** --header @f";
    expect(withoutSecretFlags(words).join(" ")).toBe(shown);
  });
});
