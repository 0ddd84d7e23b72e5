import { describe, expect, it } from "vitest";
import { Credentials, credentialsOf } from "../../../src/stores/s3/credentials.ts";

const keys = { accessKeyId: "A", secretAccessKey: "B" };

describe("credentialsOf", () => {
  it.each([
    [{ AWS_ACCESS_KEY_ID: "A", AWS_SECRET_ACCESS_KEY: "B" }, keys],
    [
      { AWS_ACCESS_KEY_ID: "A", AWS_SECRET_ACCESS_KEY: "B", AWS_SESSION_TOKEN: "C" },
      { ...keys, sessionToken: "C" },
    ],
    [{ AWS_ACCESS_KEY_ID: "A" }, undefined],
    [{ AWS_NO_SIGN_REQUEST: "YES", AWS_ACCESS_KEY_ID: "A", AWS_SECRET_ACCESS_KEY: "B" }, "anonymous"],
    [{ AWS_NO_SIGN_REQUEST: "0" }, undefined],
    [{}, undefined],
  ])("of %j", (variables, expected) => {
    expect(credentialsOf(variables)).toEqual(expected);
  });
});

describe("Credentials", () => {
  it("are fetched by one call for all who wait", async () => {
    let calls = 0;
    const all = new Credentials(async () => {
      calls++;
      return keys;
    });
    expect(await Promise.all([all.current(), all.current(), all.current()])).toEqual([keys, keys, keys]);
    await all.current();
    expect(calls).toBe(1);
  });

  it("are fetched again after a failure", async () => {
    let calls = 0;
    const all = new Credentials(async () => {
      if (calls++ === 0) throw new Error("no network");
      return keys;
    });
    await expect(all.current()).rejects.toThrow("no network");
    expect(await all.current()).toEqual(keys);
  });
});
