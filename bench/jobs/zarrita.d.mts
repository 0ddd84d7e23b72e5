export function sliceService(url: string): Promise<(request: Request) => Promise<Response>>;

export function mapPixels(url: string, time: number): Promise<Uint8ClampedArray>;

export function pointSeries(url: string, latitude: number, longitude: number): Promise<number[]>;

export function toCelsius(source: string, target: string): Promise<void>;
