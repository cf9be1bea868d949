import { statSync } from 'node:fs'
import { join } from 'node:path'
import { openStoreReader } from '@sonde/console'
import { countOf } from '@sonde/sdk/internal'
import type { ReadFormat } from './format.ts'
import { reportLeftOut } from './nothing.ts'
import type { ReadOptions } from './options.ts'
import { Output, tell } from './output.ts'
import { Printer } from './print.ts'
import type { Progress } from './progress.ts'
import { selectionOf } from './select.ts'

/** How {@link printStore} prints. */
export interface PrintStoreOptions {
  readonly options: ReadOptions
  readonly format: ReadFormat
  readonly progress: Progress
  /** Of the records of one hour, type and source. */
  readonly order: 'arrival' | 'time'
}

/**
 * `sonde read --store`: prints the records of a store, even while a Sonde writes it. Exit code 0, or 1 if a part of it
 * is damaged.
 */
export async function printStore(
  path: string,
  { options, format, progress, order }: PrintStoreOptions,
): Promise<number> {
  const file = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? join(path, 'store.db') : path
  const reader = openStoreReader(file)
  const output = new Output(process.stdout)
  const selection = selectionOf(options)
  const printer = new Printer({ ...options, selection, format, output, tell })
  const batches = reader.read(({ type, source, firstMs, lastMs, ...block }) => {
    const range = { ...block, firstNs: nanoseconds(Math.floor(firstMs)), lastNs: nanoseconds(Math.ceil(lastMs)) }
    return !printer.isDone && selection.takesSource(source) && selection.takesBlock(range, type)
  }, order)
  for (const batch of batches) {
    if (printer.isDone) break
    await printer.print(batch)
    progress.at(0, printer.printed)
  }
  progress.clear()
  const { damagedCount } = reader
  reader.close()
  await output.write(format.rest())
  reportLeftOut(selection, options, printer.printed === 0 && damagedCount === 0)
  if (damagedCount > 0) tell(`${file}: skipped ${countOf(damagedCount, 'damaged piece')}`)
  await output.flush()
  return damagedCount > 0 ? 1 : 0
}

function nanoseconds(ms: number): bigint {
  return BigInt(ms) * 1_000_000n
}
