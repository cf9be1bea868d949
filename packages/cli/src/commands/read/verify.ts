import { SondeError } from '@sonde/sdk'
import { messageOf } from '@sonde/sdk/internal'
import { nothingFits } from './nothing.ts'
import type { ReadOptions } from './options.ts'
import type { Output } from './output.ts'
import type { Progress } from './progress.ts'
import { FileReading } from './reading.ts'
import { Selection } from './select.ts'
import { type SummaryRow, summaryText } from './summary.ts'

/**
 * Reads all of each file, and reports its state: blocks, records, bytes and damaged ranges. False if a file is damaged
 * or unreadable; with `strict` also if its last block is cut off.
 */
export async function verify(
  files: readonly string[],
  options: ReadOptions,
  output: Output,
  { progress, tell }: { readonly progress: Progress; readonly tell: (line: string) => void },
): Promise<boolean> {
  const selection = new Selection(options, (type) => type.layout.slots)
  const rows: SummaryRow[] = []
  let isSound = true
  let doneBytes = 0
  let records = 0
  for (const path of files) {
    const { row, isUnwanted, fares } = verifyFile(path, options, selection, (at, count) =>
      progress.at(doneBytes + at, records + count),
    )
    if (isUnwanted) continue
    rows.push(row)
    doneBytes += Number(row.bytes)
    records += Number(row.records)
    if (fares === 'damaged' || (fares === 'truncated' && options.strict)) isSound = false
    if (options.format === 'jsonl') {
      progress.clear()
      await output.write(summaryText([row], 'jsonl'))
    }
    if (output.isClosed) break
  }
  progress.clear()
  const note = rows.length === 0 ? nothingFits(selection.seen, options) : undefined
  if (note !== undefined) tell(note)
  if (options.format !== 'jsonl') await output.write(summaryText(rows, options.format))
  return isSound
}

interface Verdict {
  readonly row: SummaryRow
  readonly isUnwanted: boolean
  readonly fares: 'sound' | 'truncated' | 'damaged'
}

function verifyFile(
  path: string,
  { salvage, schemaDir }: ReadOptions,
  selection: Selection,
  onProgress: (at: number, records: number) => void,
): Verdict {
  let reading: FileReading | undefined
  try {
    reading = new FileReading(path, { salvage, ...(schemaDir === undefined ? {} : { schemaDir }) })
    while (reading.next() !== undefined) onProgress(reading.at, reading.recordCount)
    return verdictOf(reading, selection)
  } catch (error) {
    if (!(error instanceof SondeError)) throw error
    const fault = { at: 0, bytes: 0, code: error.code, message: messageOf(error) }
    return { row: rowOf(path, 'unreadable', reading, [fault], 1), isUnwanted: false, fares: 'damaged' }
  } finally {
    reading?.close()
  }
}

function verdictOf(reading: FileReading, selection: Selection): Verdict {
  const { kept, count } = reading.faults
  const state = reading.end?.state ?? 'open'
  const isDamaged = kept.some(({ code }) => code !== 'DTB_TRUNCATED')
  return {
    row: rowOf(reading.path, isDamaged ? 'damaged' : state, reading, kept, count),
    isUnwanted: reading.source !== undefined && !selection.takesSource(reading.source),
    fares: isDamaged ? 'damaged' : state === 'truncated' ? 'truncated' : 'sound',
  }
}

function rowOf(
  path: string,
  state: string,
  reading: FileReading | undefined,
  kept: FileReading['faults']['kept'],
  faultCount: number,
): SummaryRow {
  const [first] = kept
  return {
    state,
    blocks: reading?.blockCount ?? 0,
    records: reading?.recordCount ?? 0,
    bytes: reading?.bytes ?? 0,
    ignored_bytes: kept.reduce((sum, { bytes }) => sum + bytes, 0),
    faults: kept,
    fault_count: faultCount,
    first_fault: first === undefined ? undefined : `at ${first.at}: ${first.message}`,
    file: path,
  }
}
