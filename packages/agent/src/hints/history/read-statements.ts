import type { KeptRecords } from '../../pipeline/kept-records.ts'
import { hintType } from './hint-type.ts'
import { type Statement, statementsIn } from './window-hints.ts'

/** Most statements that one question reads. Its answer tells from which time on it is complete. */
export const STATEMENT_LIMIT = 10_000
/** Most statements of a piece. A piece with more is read again in parts. */
const PIECE_STATEMENTS_MAX = 4000
/** A piece with fewer statements makes the next piece longer. */
const PIECE_STATEMENTS_FEW = 500
/** Length of the first piece. Unit: milliseconds. */
const PIECE_MS = 3_600_000
/** A window may reach back to 1970, so pieces grow. */
const GROWTH = 4
/** A piece is not divided below this length. Unit: milliseconds. */
const PIECE_LEAST_MS = 1000

/** The statements that were read so far. */
export interface StatementsRead {
  readonly statements: readonly Statement[]
  /** Number of statements that are not readable. */
  readonly unreadable: number
  /** The statements are complete from this time on. Unit: milliseconds since the Unix epoch. */
  readonly fromMs: number
}

/**
 * Reads the statements of a window piece by piece, the newest first, and yields all of them after each piece. A reader
 * ends early when it has enough.
 */
export async function* statementsBackwards(
  records: KeptRecords['records'],
  fromMs: number,
  toMs: number,
): AsyncGenerator<StatementsRead> {
  const statements: Statement[] = []
  let unreadable = 0
  let readFromMs = toMs
  let pieceMs = PIECE_MS
  while (readFromMs > fromMs) {
    const pieceFromMs = Math.max(fromMs, readFromMs - pieceMs)
    const left = STATEMENT_LIMIT - statements.length
    const room = Math.min(PIECE_STATEMENTS_MAX, left)
    const window = { type: hintType.name, fromMs: pieceFromMs, toMs: readFromMs, recordLimit: room + 1 }
    const piece = await statementsIn(await records(window))
    const count = piece.statements.length + piece.unreadable
    if (count > room) {
      if (pieceMs <= PIECE_LEAST_MS || left < PIECE_STATEMENTS_FEW) return
      pieceMs = Math.max(PIECE_LEAST_MS, Math.min(pieceMs, readFromMs - fromMs) / GROWTH)
      continue
    }
    statements.push(...piece.statements)
    unreadable += piece.unreadable
    readFromMs = pieceFromMs
    if (count < PIECE_STATEMENTS_FEW) pieceMs *= GROWTH
    yield { statements, unreadable, fromMs: readFromMs }
  }
}

/** Reads all statements of a window, up to the limit. */
export async function readStatements(
  records: KeptRecords['records'],
  fromMs: number,
  toMs: number,
): Promise<StatementsRead> {
  let read: StatementsRead = { statements: [], unreadable: 0, fromMs: toMs }
  for await (read of statementsBackwards(records, fromMs, toMs));
  return read
}
