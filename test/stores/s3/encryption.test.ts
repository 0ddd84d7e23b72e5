import { describe, expect, it } from "vitest";
import { accessOf, encryptionHeaders } from "../../../src/stores/s3/encryption.ts";

describe("encryptionHeaders", () => {
  it("are none where the bucket's owner decides", () => {
    expect(encryptionHeaders(undefined, "create")).toEqual({});
  });

  it("name the way to encrypt when an object is made, and at no other time", () => {
    const encryption = { algorithm: "AES256" };
    expect(encryptionHeaders(encryption, "create")).toEqual({ "x-amz-server-side-encryption": "AES256" });
    for (const access of ["part", "read", "other"] as const) {
      expect(encryptionHeaders(encryption, access)).toEqual({});
    }
  });

  it("bring a customer's key along with parts and reads", () => {
    const encryption = { customerKey: "a2V5", customerKeyMd5: "bWQ1" };
    for (const access of ["create", "part", "read"] as const) {
      expect(encryptionHeaders(encryption, access)).toEqual({
        "x-amz-server-side-encryption-customer-algorithm": "AES256",
        "x-amz-server-side-encryption-customer-key": "a2V5",
        "x-amz-server-side-encryption-customer-key-md5": "bWQ1",
      });
    }
    expect(encryptionHeaders(encryption, "other")).toEqual({});
  });
});

describe("accessOf", () => {
  it.each([
    ["GET", {}, "read"],
    ["HEAD", {}, "read"],
    ["PUT", {}, "create"],
    ["POST", { uploads: "" }, "create"],
    ["PUT", { partNumber: "1", uploadId: "x" }, "part"],
    ["POST", { uploadId: "x" }, "other"],
    ["DELETE", {}, "other"],
  ])("%s %j", (method, query, access) => {
    expect(accessOf(method, query as Record<string, string>)).toBe(access);
  });
});
