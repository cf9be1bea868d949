/** Work done in one turn before others are let in. Unit: milliseconds. Well under 10, because one step may take a while itself. */
const SLICE_MS = 4

/** Resolves in a later turn of the event loop. */
function yieldTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Runs work that pauses at its `yield`s; where a turn of the event loop has taken long enough, the rest follows in later ones. */
export async function runInSlices<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const endMs = performance.now() + SLICE_MS
    do {
      const step = work.next()
      if (step.done === true) return step.value
    } while (performance.now() < endMs)
    await yieldTurn()
  }
}
