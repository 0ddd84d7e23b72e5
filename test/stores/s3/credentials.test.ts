import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Credentials, credentialsOf, parseCredentials } from "../../../src/stores/s3/credentials.ts";

const keys = { accessKeyId: "A", secretAccessKey: "B" };

describe("credentialsOf", () => {
  it.each([
    [{ AWS_ACCESS_KEY_ID: "A", AWS_SECRET_ACCESS_KEY: "B" }, keys],
    [
      { AWS_ACCESS_KEY_ID: "A", AWS_SECRET_ACCESS_KEY: "B", AWS_SESSION_TOKEN: "C" },
      { ...keys, sessionToken: "C" },
    ],
    [{ AWS_ACCESS_KEY_ID: "A" }, undefined],
    [
      {
        AWS_ACCESS_KEY_ID: "A",
        AWS_SECRET_ACCESS_KEY: "B",
        AWS_CREDENTIAL_EXPIRATION: "2030-01-02T03:04:05Z",
      },
      { ...keys, expiration: new Date("2030-01-02T03:04:05Z") },
    ],
    [{}, undefined],
  ])("of %j", (variables, expected) => {
    expect(credentialsOf(variables)).toEqual(expected);
  });
});

describe("parseCredentials", () => {
  it("takes what services and programs write", () => {
    const text =
      '{"AccessKeyId": "A", "SecretAccessKey": "B", "Token": "C", "Expiration": "2030-01-02T03:04:05Z"}';
    expect(parseCredentials(text, "x")).toEqual({
      ...keys,
      sessionToken: "C",
      expiration: new Date("2030-01-02T03:04:05Z"),
    });
    expect(parseCredentials('{"AccessKeyId": "A", "SecretAccessKey": "B"}', "x")).toEqual(keys);
  });

  it.each([
    "",
    "null",
    "[]",
    "{}",
    '{"AccessKeyId": "hidden1"',
    '{"AccessKeyId": "hidden1", "SecretAccessKey": 1}',
  ])("refuses %j, and shows nothing of it", (text) => {
    const parse = () => parseCredentials(text, "the service");
    expect(parse).toThrow(expect.objectContaining({ code: "access-denied" }));
    expect(parse).not.toThrow(/hidden/);
  });

  it("refuses a time that is none", () => {
    const text = '{"AccessKeyId": "A", "SecretAccessKey": "B", "Expiration": "soon"}';
    expect(() => parseCredentials(text, "x")).toThrow(expect.objectContaining({ code: "access-denied" }));
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

  describe("that expire", () => {
    const minute = 60_000;
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ["Date"], now: 0 });
    });
    afterEach(() => {
      vi.useRealTimers();
    });
    const until = (time: number) => ({ ...keys, expiration: new Date(time) });

    it("are fetched anew before they do, by one call", async () => {
      let calls = 0;
      const all = new Credentials(async () => until(60 * minute * ++calls));
      await all.current();
      vi.setSystemTime(54 * minute);
      expect(await all.current()).toEqual(until(60 * minute));
      vi.setSystemTime(55 * minute);
      expect(await Promise.all([all.current(), all.current()])).toEqual(Array(2).fill(until(120 * minute)));
      expect(calls).toBe(2);
    });

    it("stay in use while they work, where others cannot be had", async () => {
      let calls = 0;
      const all = new Credentials(async () => {
        if (calls++ > 0) throw new Error("no network");
        return until(60 * minute);
      });
      await all.current();
      vi.setSystemTime(56 * minute);
      expect(await all.current()).toEqual(until(60 * minute));
      await all.current();
      expect(calls).toBe(2);
      vi.setSystemTime(57 * minute);
      await all.current();
      expect(calls).toBe(3);
      vi.setSystemTime(60 * minute);
      await expect(all.current()).rejects.toThrow("no network");
    });

    it("are not asked for with each request when their source has no better ones", async () => {
      let calls = 0;
      const all = new Credentials(async () => {
        calls++;
        return until(2 * minute);
      });
      for (let i = 0; i < 9; i++) await all.current();
      expect(calls).toBe(1);
    });

    it("are refused once they have", async () => {
      const fixed = new Credentials(until(minute));
      expect(await fixed.current()).toEqual(until(minute));
      vi.setSystemTime(minute);
      for (const all of [fixed, new Credentials(async () => until(minute))]) {
        await expect(all.current()).rejects.toMatchObject({
          code: "access-denied",
          reason: "the credentials have expired",
        });
      }
    });
  });
});
