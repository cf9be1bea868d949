type Sqlite = typeof import('node:sqlite')

let loaded: Sqlite | undefined

/**
 * `node:sqlite`, which Node 22 calls experimental in a line on stderr each time that a thread loads it. Sonde relies on
 * nothing of it that has changed since; the line would only make people ask. No other warning is held back: nothing but
 * the load happens meanwhile.
 */
export function loadSqlite(): Sqlite {
  if (loaded !== undefined) return loaded
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    loaded = process.getBuiltinModule('node:sqlite')
    return loaded
  } finally {
    process.emitWarning = emitWarning
  }
}
