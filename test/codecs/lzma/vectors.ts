import { JsonNumber, type JsonObject } from "../../../src/util/json-value.ts";

/** The id of the LZMA1 filter, as it stands in documents. */
export const LZMA1 = new JsonNumber("4611686018427387905");

/** What Python's `lzma` and `xz` made of `SAMPLE`; several streams of its parts. */
const VALUES = {
  "xz, CRC-64":
    "/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4AODAKZdAABoftJCqpBZYrGjyFTSAk2tSBcg8S+r4vWkG7VVIGW4WBYUn4SaXgszitoL5HxJ1GcN8/auZwAN6Ke4QH4LWdtmewccHFSkhE2LqPvP9xcXsUB3U4B1Z44gf2hE8dZF+fsCsSwQGLHHLL/mvKiy4fZ2B8g53nzuQK9r3mghyrJV6AFBwPAD0lW+UlgQV7wzI/8KGdAVuWJycw9+PV4pMNdLeQbZWH0AAAAArAkEk0xNawABwgGEBwAAO3VhxbHEZ/sCAAAAAARZWg==",
  "xz, no check":
    "/Td6WFoAAAD/EtlBAgAhARYAAAB0L+Wj4AODAKZdAABoftJCqpBZYrGjyFTSAk2tSBcg8S+r4vWkG7VVIGW4WBYUn4SaXgszitoL5HxJ1GcN8/auZwAN6Ke4QH4LWdtmewccHFSkhE2LqPvP9xcXsUB3U4B1Z44gf2hE8dZF+fsCsSwQGLHHLL/mvKiy4fZ2B8g53nzuQK9r3mghyrJV6AFBwPAD0lW+UlgQV7wzI/8KGdAVuWJycw9+PV4pMNdLeQbZWH0AAAAAAboBhAcAAJf6ECKoAAr8AgAAAAAAWVo=",
  "xz, CRC-32, preset 0":
    "/Td6WFoAAAFpIt42AgAhAQwAAACPmEGc4AODAKddAABoftJCqpBZYrGjyFTSAk2tSBcg8S+r4vWkG7VVIGW4WBYUn4SaXgszitoL5HxJ1GcN8/auZwAN6Ke4QH4LWds9XiaMOJEZWHLuWbrpK12yLdcnUhQVZ44gf2hE8dZF+fsCiRJON8C+5Y+wPvrSglHCPeZqukiVbA3yKnsVJgSR5TzB5gtpkNEp7An1MW0QeXJmr7o3CjWMRRUn7LCz5pTUfCAXdK8AAAAldkfZAAG/AYQHAAAka91yPjANiwIAAAAAAVla",
  "xz, SHA-256, extreme":
    "/Td6WFoAAArh+wyhAgAhARwAAAAQz1jM4AODAKddAABoftJCqpBZYrGjyFTSAk2tSBcg8S+r4vWkG7VVIGW4WBYUn4SaXgszitoL5HxJ1GcN8/auZwAN6Ke4QH4LWdso0S6OlFpw3vL8SeYBEJLkMNRig9WvEZYVZYhD2/mSEKaStKg1HHce48yOrqLN928yU27Ayln0663TaDsnUwQ1wTo6y2HEzsaAPsSwTX0xmbav/8pgP7okam7yBKbMso7sn/SNt3kAAACYmJm1hM0sTMvFiT79874L5J3CmFF0rwVOtxGNlV6C3wAB2wGEBwAAaCa44bbp3xwCAAAAAApZWg==",
  "xz, deltas":
    "/Td6WFoAAATm1rRGAwIDAQMDAQAhARIAeh7oveADgwC3XQAAaH6eIjNxO/IzM0vBVRFqnZJlz2Ju68cnjYXZxZyh4MF1S4KlYOlbS3hENVS09MWMsrusEwCK0yoInAs0CgEbdbZJsCzVdvtXe7u1EephMcqcTVBnVZFvnhZ3BIzfML6xRjueazHftQQts/njb+s47dwJ+q88+bBGDUXKzNGOJsORNXZgB5/Y15CPQH0VHLyzUcwT+fTogdGp0Lq3V/cWWI4Auodexl9dQDyxu1A9Rj+XRgzGBQAAAACsCQSTTE1rAAHXAYQHAAAT5nqWscRn+wIAAAAABFla",
  "xz, lc lp pb":
    "/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4AODAKU/AABoftJCqpBZYrGjyFTSAk2tSBcg8S+r266Bv+g+Y0SjgDpNU80T3KL346xKnkIUIK6szKa3qtMtPrxif+0IlXDXol3YPv9Jb70MxrYrUo8hI9z3in0k54XtbGc/10p03jeFE8EtW1IqxIyqAUVQiFcR7z/QqV+GwHNnhA3yqRNrXqv+B2W6N+5NdsLrhVeIfChZ7l/VoXZBTbGalgso2WsHvLnNAAAAAAAArAkEk0xNawABwQGEBwAAlQf1Q7HEZ/sCAAAAAARZWg==",
  "xz, two streams and padding":
    "/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4AHzAEtdAABoftJCqpBZYrGjyFTSAk2tSBcg8S+r4vWkG7VVIGW4WBYUn4SaXgszitoL5HxJ1GcN8/auZwAN6Ke4QH4LWdtmewccHFSPNWawAAAAQl/X54gX+0MAAWf0AwAAAEyypXmxxGf7AgAAAAAEWVoAAAAAAAAAAP03elhaAAABaSLeNgIAIQEWAAAAdC/lo+ABjwBxXQAE7k77H6RHaJwoHawKfjoGS5vcGXE3HFB9bM9NUXNlVKLcqpR6Yc5GpDMPqJtd/oKEYBPxbJ+Mqck9OKcp0sEHCDb1yR8y3s/3SOd9RvRpSRLRBMNmRso/w4EVqpEKMbUreVIFnGZsRyTBBYmasArYAAAAAABmE4EFAAGJAZADAACA54x4PjANiwIAAAAAAVlaAAAAAA==",
  "xz, three blocks":
    "/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4AGPAEhdAABoftJCqpBZYrGjyFTSAk2tSBcg8S+r4vWkG7VVIGW4WBYUn4SaXgszitoL5HxJ1GcN8/auZwAN6Ke4QH4LWdtmewcN9brgAADuyR42Snuu+QIAIQEWAAAAdC/lo+ABjwBKXQABaHz0RNSBO2SUrAaMbc2DUWS1SUIWpfErzB8oTW1ptBttNFYxfxxxcu/BKBXtQdsnWp/o4Wo/vLtWgWcCmkKD0lvCeJplqRBoAAAAAFhK1ZULBnGBAgAhARYAAAB0L+Wj4ABjADNdAATuTok3ERjIcbKxWbUPYL/waaTyeykwtRGqtAFuzyhMh7456Cb96rCV+coUv0lYy1GaAAAAhux7oYf2MiwAA2SQA2aQA09kAABifyhAFBc7MAMAAAAABFla",
  "xz, blocks that state their sizes":
    "/Td6WFoAAATm1rRGA8BTgAQhARYAAAAAvojoUOAB/wBLXQAAaH7SQqqQWWKxo8hU0gJNrUgXIPEvq+L1pBu1VSBluFgWFJ+Eml4LM4raC+R8SdRnDfP2rmcADeinuEB+C1nbZnsHHBxUk1CKsAAAAHKuJVklPZaQA8B5hAMhARYAAAAAskO+X+ABgwBxXQAE7jb7H6RHaJwoHawKfjoGS5vcGXE3HFB9bM9NUXNlVKLcqpR6Yc5GpDMPqJtd/oKEYBPxbJ+Mqck9OKcp0sEHCDctK04eTvmCNF7gd7cvXXOYU6RjSfffszUnFw8Qs+oBz1GjkYRXzacZia2pEMoiAAAAAABWuXBjhKbgBQACa4AEkQGEAwAAAA2ZkTwUFzswAwAAAAAEWVo=",
  alone:
    "XQAAgAD//////////wAAaH7SQqqQWWKxo8hU0gJNrUgXIPEvq+L1pBu1VSBluFgWFJ+Eml4LM4raC+R8SdRnDfP2rmcADeinuEB+C1nbZnsHHBxUpIRNi6j7z/cXF7FAd1OAdWeOIH9oRPHWRfn7ArEsEBixxyy/5ryosuH2dgfIOd587kCva95oIcqyVegBQcDwA9JVvlJYEFe8MyP/ChnQFblicnMPfj1eKTDXS3kHyGYN///dUy6A",
  "alone, size and end marker":
    "XQAAgACEAwAAAAAAAAAAaH7SQqqQWWKxo8hU0gJNrUgXIPEvq+L1pBu1VSBluFgWFJ+Eml4LM4raC+R8SdRnDfP2rmcADeinuEB+C1nbZnsHHBxUpIRNi6j7z/cXF7FAd1OAdWeOIH9oRPHWRfn7ArEsEBixxyy/5ryosuH2dgfIOd587kCva95oIcqyVegBQcDwA9JVvlJYEFe8MyP/ChnQFblicnMPfj1eKTDXS3kHyGYN///dUy6A",
  "alone, lc lp pb":
    "yAAQAAD//////////wAAaH7SQJ8avgM0DkbdJ6b4XHdSrjA75kwpogaqT8pVdOnXJ9ZurCxAge/8jc8VBCTjWWGWdHbNdLUg2ldyGvVn3qO41fywqByI7sI2SWfGr2/C+iGxOBotTn/7qREgKb7gRh6qSMx1TdqN6QA4qmwIAYoJ1lKL9pHnQv6vtNpRFLjIxjOTAjwSH0aStKl2ycVHn5bRohw853wGX5UNLEO5q5W7y9xFkCnCgv//qshAAA==",
  "raw LZMA2":
    "4AODAKddAABoftJCqpBZYrGjyFTSAk2tSBcg8S+r4vWkG7VVIGW4WBYUn4SaXgszitoL5HxJ1GcN8/auZwAN6Ke4QH4LWdu4s7nGGmNd+dxgzT5HVD+RHliszBj7qpnH4E5XQlLrsDsVNmj7wJeNwc55igEHQk/b1q7nVk3CWKsG9CvxYcDto4hTHoKLseyPmvqGA4bCTUXx4K+uHPeOyrKN/+6F0OJ6jljNhB+qAA==",
  "raw delta, LZMA2":
    "4AODAKtdAABoftC/OHlGv5bl5ShlEb/PydyN9BxtyGehY8/Tw9eiIhkFi7nZUyamdAfXHwOmC+fcc6/fSiNvwLOMcV05pWXxV5fYHHVErcc88hsZo0ryCECiAKvUhcQqAkOIvqtgwb3iF/6Wxco4WYkMZtcpRGVRh6pA/f3m3lyofdlR2yDVvKwnFfaNgD7rmfrFbjDkZfOwvuUmwHfX4rtdkQ3EZG11CorTHi2WhwslAAA=",
  "raw LZMA1":
    "AABpOsqgcO+AyhyKaj+zMRQ18jW20741UqZvlVOw6U6Y2hGeZveJc3CJ3CVZgTb+NRbHLhZeLqVK3KSnbFalcbot6b/su2npBZ9U6/vaSCk1DpW10yikXQx4n4Gy4L1Z7BdpA0mHhgPq+8UdcThl3YntukFR/L9YBVJGCKtuQyC1X1QPAy49bzMfSSWGJNq/Iw5NW+BN2TRUy8bDP42QEbTiA1v//6zPAAA=",
};

/** How values are read that are no usual xz, by their names. */
const CONFIGURATIONS: Partial<Record<string, JsonObject>> = {
  "xz, no check": { check: 0 },
  "xz, CRC-32, preset 0": { check: 1, preset: 0 },
  "xz, SHA-256, extreme": { check: 10 },
  "xz, deltas": {
    filters: [
      { id: 3, dist: 4 },
      { id: 33, preset: 2 },
    ],
  },
  alone: { format: 2 },
  "alone, size and end marker": { format: 2 },
  "alone, lc lp pb": { format: 2 },
  "raw LZMA2": { format: 3, filters: [{ id: 33, preset: 1 }] },
  "raw delta, LZMA2": { format: 3, filters: [{ id: 3, dist: 2 }, { id: 33 }] },
  "raw LZMA1": { format: 3, filters: [{ id: LZMA1, lc: 1, lp: 3, pb: 0 }] },
};

export const LZMA_VECTORS: readonly (readonly [name: string, configuration: JsonObject, base64: string])[] = [
  ...Object.entries(VALUES).map(([name, base64]) => [name, CONFIGURATIONS[name] ?? {}, base64] as const),
  ["auto, xz", { format: 0 }, VALUES["xz, CRC-64"]],
  ["auto, alone", { format: 0 }, VALUES.alone],
];
