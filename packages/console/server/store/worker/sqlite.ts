import type { DatabaseSync as Connection } from 'node:sqlite'
import { loadSqlite } from '@sonde/sdk/internal'

/** A connection to a database file. */
export const { DatabaseSync } = loadSqlite()
/** A connection to a database file. */
export type DatabaseSync = Connection
