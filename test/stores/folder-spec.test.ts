import { describe, expect, it } from "vitest";
import { childSpec, parentSpec } from "../../src/stores/folder-spec.ts";
import type { StoreSpec } from "../../src/stores/store.ts";

describe("folders around a store", () => {
  const cases: [StoreSpec, StoreSpec, string][] = [
    [{ kind: "directory", path: "/a/b c" }, { kind: "directory", path: "/a" }, "b c"],
    [{ kind: "directory", path: "/a" }, { kind: "directory", path: "/" }, "a"],
    [{ kind: "directory", path: "C:/a" }, { kind: "directory", path: "C:/" }, "a"],
    [{ kind: "http", url: "http://h:8/a/b%20c" }, { kind: "http", url: "http://h:8/a" }, "b c"],
    [{ kind: "http", url: "http://h:8/a" }, { kind: "http", url: "http://h:8" }, "a"],
    [{ kind: "http", url: "http://h/%zz" }, { kind: "http", url: "http://h" }, "%zz"],
    [{ kind: "s3", bucket: "b", prefix: "x/y" }, { kind: "s3", bucket: "b", prefix: "x" }, "y"],
    [{ kind: "s3", bucket: "b", prefix: "x" }, { kind: "s3", bucket: "b", prefix: "" }, "x"],
  ];
  it.each(cases)("%j is split into the folder around it and its name", (spec, outer, name) => {
    expect(parentSpec(spec)).toEqual({ spec: outer, name });
    if (name !== "%zz") expect(childSpec(outer, name)).toEqual(spec);
  });

  const ends: StoreSpec[] = [
    { kind: "directory", path: "/" },
    { kind: "directory", path: "C:/" },
    { kind: "http", url: "http://h" },
    { kind: "s3", bucket: "b", prefix: "" },
    { kind: "zip", path: "/a.zip" },
    { kind: "memory", name: "m" },
  ];
  it.each(ends)("end at %j", (spec) => {
    expect(parentSpec(spec)).toBeUndefined();
  });

  it("cannot be named in a zip", () => {
    expect(childSpec({ kind: "zip", path: "/a.zip" }, "x")).toBeUndefined();
  });
});
