import type { Send } from '../delivery/sender.ts'

/**
 * The `send` of a sink that writes to a file or a pipe. A write cannot be taken back: if an attempt is given up, its
 * write continues, and the next attempt for the payload waits for that write instead of making a second one. Writes
 * never overlap.
 */
export function oneWrite<P extends object>(write: (payload: P) => Promise<void>): Send<P> {
  const written = new WeakSet<P>()
  let current: { readonly payload: P; readonly done: Promise<void> } | undefined
  const start = async (payload: P) => {
    try {
      await write(payload)
      written.add(payload)
    } finally {
      current = undefined
    }
  }
  return async (payload) => {
    if (written.has(payload)) return { outcome: 'ok' }
    if (current !== undefined && current.payload !== payload)
      return { outcome: 'retry', reason: 'an earlier write has not ended' }
    current ??= { payload, done: start(payload) }
    await current.done
    return { outcome: 'ok' }
  }
}
