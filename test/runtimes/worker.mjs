// A worker of a server: answers with a part of an array in a zip, which a web server or S3 has, and serves that array in
// other chunks.
import { toFetchHandler } from "zarrflow";
import { open, slice } from "zarrflow/read";
import { S3Store } from "zarrflow/stores/s3";
import { openZipValue } from "zarrflow/stores/zip";

let served;

export default {
  async fetch(request, { url, endpoint, bucket, accessKeyId, secretAccessKey }) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/served/")) {
      served ??= toFetchHandler(
        `${url}/series.zarr.zip`,
        { chunks: { time: 8 }, to: "v3" },
        { base: "served" },
      );
      return served(request);
    }
    const array = await open(pathname === "/s3" ? await inBucket() : `${url}/series.zarr.zip`);
    const cut = slice(array, { time: [3, 43, 20], y: 7, x: [28, 30] });
    return new Response(cut.bytes(), { headers: { "content-type": "application/octet-stream" } });

    function inBucket() {
      const credentials = { accessKeyId, secretAccessKey };
      return openZipValue(new S3Store({ endpoint, bucket, credentials }), "series.zarr.zip");
    }
  },
};
