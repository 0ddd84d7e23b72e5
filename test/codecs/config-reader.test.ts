import { describe, expect, test } from "vitest";
import { ConfigReader } from "../../src/codecs/config-reader.ts";
import { JsonNumber } from "../../src/util/json-value.ts";
import { errorOf } from "./support.ts";

const settings = new ConfigReader({
  level: 3,
  scale: new JsonNumber("1.50"),
  flag: true,
  word: "end",
  none: null,
});

test("reads what is there", () => {
  expect(settings.integer("level", 0, 9)).toBe(3);
  expect(settings.number("scale")).toBe(1.5);
  expect(settings.flag("flag", false)).toBe(true);
  expect(settings.word("word", ["start", "end"])).toBe("end");
  expect(settings.text("word")).toBe("end");
});

test("takes the fallback for what is absent or null", () => {
  expect(settings.integer("none", 0, 9, 5)).toBe(5);
  expect(settings.flag("absent", false)).toBe(false);
  expect(settings.word("absent", ["a", "b"], "b")).toBe("b");
  expect(settings.value("none")).toBeUndefined();
});

test("sees no inherited names", () => {
  expect(settings.value("toString")).toBeUndefined();
  expect(settings.value("__proto__")).toBeUndefined();
});

describe("refuses, with name and value", () => {
  test.each([
    ["level", () => settings.integer("level", 4, 9)],
    ["scale", () => settings.integer("scale", 0, 9)],
    ["word", () => settings.number("word")],
    ["level", () => settings.flag("level", true)],
    ["word", () => settings.word("word", ["start"])],
    ["flag", () => settings.text("flag")],
    ["absent", () => settings.integer("absent", 0, 9)],
  ])("%s", async (name, read) => {
    const error = await errorOf(read, "invalid-metadata");
    expect(error.message).toContain(`\`${name}\``);
  });
});
