// Platform types that the package's declarations refer to. They merge with the types of the DOM or Node if the
// program has them, and let it compile if it has neither. Linting is off because merging needs empty interfaces.
interface AbortSignal {}
interface Request {}
interface RequestInit {}
interface Response {}
interface URL {}
interface ReadableStream<R> {}
interface WritableStream<W> {}
interface TransformStream<I, O> {}
