import { expect, it } from "vitest";
import { Losses } from "../../src/meta/losses.ts";
import { failure } from "./helpers.ts";

it("gathers losses, but for those that are allowed by their pointer or one above", () => {
  const losses = new Losses(["/attributes", "/ext"]);
  losses.add("/attributes/a", "NaN is not JSON");
  losses.add("/ext", "a name of v3 alone");
  losses.check("v2", "");
  const allowable = new Losses();
  allowable.add("/extra", "a name of v3 alone");
  expect(failure(() => allowable.check("v2", "a")).details.hint).toMatch(/^List each pointer/);
  losses.add("/extra", "a name of v3 alone");
  losses.add("/extra", "twice");
  losses.require("/attributes", "whatever is allowed");
  const error = failure(() => losses.check("v2", "a"));
  expect(error).toMatchObject({
    code: "loss-refused",
    details: { format: "v2", path: "a", pointers: ["/extra", "/attributes"] },
  });
  expect(error.message).toContain("/extra (a name of v3 alone)");
  expect(error.details.hint).toMatch(/cannot be read without it/);
});
