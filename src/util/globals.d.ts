// Types of the platform that the declarations of the package name. Where a program has those of the DOM or of Node, these
// add nothing to them; where it has neither, they let it compile. Linting is off, as an empty interface is what merges.
interface AbortSignal {}
interface Request {}
interface RequestInit {}
interface Response {}
interface URL {}
interface ReadableStream<R> {}
interface WritableStream<W> {}
interface TransformStream<I, O> {}
