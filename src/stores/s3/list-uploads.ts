import { ZarrflowError } from "../../util/errors.ts";
import { decoded } from "./list-objects.ts";
import type { S3Client } from "./s3-client.ts";
import { elements, textOf } from "./xml.ts";

/** A multipart upload that was neither completed nor aborted. */
interface S3Upload {
  readonly key: string;
  readonly id: string;
  readonly begun: Date;
}

/**
 * Lists the uploads of objects whose keys begin with `prefix`. MinIO takes the prefix for a whole key. So if a
 * server other than Amazon's lists none, the uploads of the whole bucket are listed and filtered.
 */
export async function* listUploads(
  client: S3Client,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<S3Upload> {
  let areAny = false;
  for await (const upload of uploadsBelow(client, prefix, signal)) {
    areAny = true;
    yield upload;
  }
  if (areAny || client.isAmazons || prefix === "") return;
  for await (const upload of uploadsBelow(client, "", signal)) {
    if (upload.key.startsWith(prefix)) yield upload;
  }
}

async function* uploadsBelow(
  client: S3Client,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<S3Upload> {
  let after: Record<string, string> | undefined = {};
  do {
    const query = { uploads: "", "encoding-type": "url", prefix, ...after };
    const root = "ListMultipartUploadsResult";
    const { text: page } = await client.ask("", query, { method: "GET", root, signal });
    const name = textOf(page, "EncodingType") === "url" ? decoded : (text = "") => text;
    for (const upload of elements(page, "Upload")) {
      yield {
        key: name(textOf(upload, "Key")),
        id: textOf(upload, "UploadId") ?? "",
        begun: new Date(textOf(upload, "Initiated") ?? ""),
      };
    }
    const key = textOf(page, "NextKeyMarker");
    const id = textOf(page, "NextUploadIdMarker");
    const isMore = textOf(page, "IsTruncated") === "true" && key !== undefined && id !== undefined;
    const next = isMore ? { "key-marker": name(key), "upload-id-marker": id } : undefined;
    const isSame = after?.["key-marker"] === next?.["key-marker"] && after?.["upload-id-marker"] === id;
    if (next !== undefined && isSame) {
      throw new ZarrflowError("corrupt-store", "the server returns the same page again", { key: name(key) });
    }
    after = next;
  } while (after !== undefined);
}
