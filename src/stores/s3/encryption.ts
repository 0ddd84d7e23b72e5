/** How the server encrypts objects: with a key of its own, or one that every request brings along. */
export type S3Encryption =
  | {
      /** Such as `AES256`, `aws:kms`, `aws:kms:dsse`. */
      readonly algorithm: string;
      readonly kmsKeyId?: string | undefined;
      /** Whether keys of the bucket are used, which saves calls of KMS. */
      readonly bucketKey?: boolean | undefined;
    }
  /** 32 bytes, and their MD5, as base64; never shown. Without the key nobody can read the objects again. */
  | { readonly customerKey: string; readonly customerKeyMd5: string };

/** What a request does to an object. */
export type ObjectAccess = "create" | "part" | "read" | "other";

/** What a request does, by its method and query. */
export function accessOf(method: string, query: Readonly<Record<string, string>>): ObjectAccess {
  if (method === "GET" || method === "HEAD") return "read";
  if (method === "PUT") return "uploadId" in query ? "part" : "create";
  return "uploads" in query ? "create" : "other";
}

/** The headers that a request needs: the way to encrypt is given when an object is made, a customer's key always. */
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
