// An HTTP service that answers `/?slice=time=0:24` with the bytes of that part of an array, from any store.
import { HTTP_STATUS, isZarrflowError, openArray } from "zarrflow";

export async function sliceService(url: string): Promise<(request: Request) => Promise<Response>> {
  const array = await openArray(url);
  return async ({ url, signal }) => {
    try {
      const ranges = new URL(url).searchParams.get("slice") ?? {};
      const part = array.slice(ranges, { maxMemory: "16MB", signal });
      const headers = { "content-type": "application/octet-stream", "x-shape": (await part.shape()).join() };
      return new Response(part.bytes() as never, { headers });
    } catch (error) {
      if (!isZarrflowError(error)) throw error;
      return new Response(error.message, { status: HTTP_STATUS[error.code] });
    }
  };
}
