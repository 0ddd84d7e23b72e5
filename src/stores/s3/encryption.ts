/** Encryption of objects by the server: with its own key, or with one that every request sends. */
export type S3Encryption =
  | {
      /** Such as `AES256`, `aws:kms`, `aws:kms:dsse`. */
      readonly algorithm: string;
      readonly kmsKeyId?: string | undefined;
      /** True to use bucket keys, which saves KMS calls. */
      readonly bucketKey?: boolean | undefined;
    }
  /** A key of 32 bytes and its MD5, in base64; never shown. Without the key nobody can read the objects again. */
  | { readonly customerKey: string; readonly customerKeyMd5: string };

export type ObjectAccess = "create" | "part" | "read" | "other";

/** Returns the kind of access of a request, by its method and query. */
export function accessOf(method: string, query: Readonly<Record<string, string>>): ObjectAccess {
  if (method === "GET" || method === "HEAD") return "read";
  if (method === "PUT") return "uploadId" in query ? "part" : "create";
  return "uploads" in query ? "create" : "other";
}

/**
 * Returns the headers that a request needs: the encryption only when an object is created, a customer's key
 * always.
 */
export function encryptionHeaders(
  encryption: S3Encryption | undefined,
  access: ObjectAccess,
): Record<string, string> {
  if (encryption === undefined || access === "other") return {};
  const name = "x-amz-server-side-encryption";
  if ("customerKey" in encryption) {
    const { customerKey, customerKeyMd5 } = encryption;
    return {
      [`${name}-customer-algorithm`]: "AES256",
      [`${name}-customer-key`]: customerKey,
      [`${name}-customer-key-md5`]: customerKeyMd5,
    };
  }
  if (access !== "create") return {};
  const { algorithm, kmsKeyId, bucketKey } = encryption;
  return {
    [name]: algorithm,
    ...(kmsKeyId !== undefined && { [`${name}-aws-kms-key-id`]: kmsKeyId }),
    ...(bucketKey !== undefined && { [`${name}-bucket-key-enabled`]: String(bucketKey) }),
  };
}
