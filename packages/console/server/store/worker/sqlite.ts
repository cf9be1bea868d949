import type { DatabaseSync as Connection } from 'node:sqlite'

/**
 * `node:sqlite`, which Node 22 calls experimental in a line on stderr each time that a thread loads it. The store relies on nothing of it that has
 * changed since; the line would only make people ask. No other warning is held back: nothing but the load happens meanwhile.
 */
function loadQuietly() {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}

/** A connection to a database file. */
export const { DatabaseSync } = loadQuietly()
/** A connection to a database file. */
export type DatabaseSync = Connection
