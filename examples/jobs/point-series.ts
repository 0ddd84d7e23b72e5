// The time series at the grid point nearest to a latitude and a longitude.
import { openArray } from "zarrflow/read";

export async function pointSeries(url: string, latitude: number, longitude: number) {
  const array = await openArray(url);
  const place = array.slice({}, { sel: { latitude, longitude }, nearest: true });
  const { data } = await place.read({ decode: true });
  return Array.from(data as ArrayLike<number>);
}
