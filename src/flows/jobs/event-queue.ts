/** A priority queue of events, the earliest first. */
export class EventQueue {
  readonly #events: { readonly at: number; readonly worker: number }[] = [];

  /** Time of the next event; infinity if there is none. */
  get next(): number {
    return this.#events[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  add(at: number, worker: number): void {
    const events = this.#events;
    let place = events.length;
    const event = { at, worker };
    events.push(event);
    while (place > 0) {
      const above = (place - 1) >> 1;
      const other = events[above];
      if (other === undefined || other.at <= at) break;
      events[place] = other;
      place = above;
    }
    events[place] = event;
  }

  /** Removes the next event. @returns its worker; undefined if there is no event */
  take(): number | undefined {
    const events = this.#events;
    const first = events[0];
    const last = events.pop();
    if (last === undefined || events.length === 0) return first?.worker;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if ((events[below + 1]?.at ?? Number.POSITIVE_INFINITY) < (events[below]?.at ?? 0)) below++;
      const other = events[below];
      if (other === undefined || other.at >= last.at) break;
      events[place] = other;
      place = below;
    }
    events[place] = last;
    return first?.worker;
  }
}
