import { createFiles } from '@sonde/sdk'
import type { HintWindow } from '@sonde/sdk/api'
import type { KeptRecords } from '../pipeline/kept-records.ts'
import { CopiedSources } from './copied-sources.ts'

/** A type is read in pieces of this length, and in longer ones while it has no records. Unit: milliseconds. */
const PIECE_MS = 600_000
/** Most records of a type in such a piece. Policy: the later ones are not copied, and the pin says that it is cut. */
const PIECE_RECORDS_MAX = 100_000

/** What was copied. */
export interface CopiedWindow {
  readonly records: number
  /** Size of the records. Unit: bytes. */
  readonly bytes: number
  /** Whether a limit left records out. */
  readonly isCut: boolean
}

/** Copies every record of a window into files of a folder, which `sonde read` reads. Ends at the limit of bytes. */
export async function copyWindow(
  kept: Pick<KeptRecords, 'types' | 'records'>,
  { fromMs, toMs }: HintWindow,
  { folder, limitBytes }: { readonly folder: string; readonly limitBytes: number },
): Promise<CopiedWindow> {
  const { types, leftOut } = await kept.types([])
  const files = createFiles({ dataRoot: folder, durability: 'block', queueLimitBytes: 2 * limitBytes })
  const sources = new CopiedSources()
  let [records, bytes, isCut] = [0, 0, leftOut > 0]
  try {
    for (const { name } of types) {
      let pieceMs = PIECE_MS
      for (let atMs = fromMs; atMs < toMs; ) {
        const endMs = Math.min(toMs, atMs + pieceMs)
        const batches = await kept.records({ type: name, fromMs: atMs, toMs: endMs, recordLimit: PIECE_RECORDS_MAX })
        const count = batches.reduce((sum, batch) => sum + batch.count, 0)
        if (count >= PIECE_RECORDS_MAX && pieceMs > PIECE_MS) {
          pieceMs = Math.max(PIECE_MS, pieceMs / 2)
          continue
        }
        for (const batch of batches) {
          if (bytes + batch.bytes.byteLength > limitBytes) {
            isCut = true
            continue
          }
          records += batch.count
          bytes += batch.bytes.byteLength
          files.accept(sources.of(batch))
        }
        if (count >= PIECE_RECORDS_MAX) isCut = true
        if (count > 0) await files.flush()
        atMs = endMs
        // A clock that was once wrong makes windows of decades, almost all of which are empty.
        pieceMs = count === 0 ? 2 * pieceMs : PIECE_MS
      }
    }
  } finally {
    await files.close()
  }
  return { records, bytes, isCut }
}
