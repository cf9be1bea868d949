import { statSync } from 'node:fs'
import { ConfigError } from '../../config/config-error.ts'
import { type FoundFiles, findFiles } from './files.ts'
import { follow } from './follow.ts'
import type { ReadFormat } from './format.ts'
import { reportLeftOut } from './nothing.ts'
import type { ReadOptions } from './options.ts'
import { Output, tell } from './output.ts'
import { Printer } from './print.ts'
import { printStore } from './print-store.ts'
import { Progress } from './progress.ts'
import { selectionOf } from './select.ts'

/** How {@link printRecords} prints. */
export interface PrintOptions {
  readonly options: ReadOptions
  readonly format: ReadFormat
  /** Returns the path of the store if none is named. */
  readonly defaultStore: () => Promise<string>
  /**
   * Whether the format sums up the records, in the order of their time. Then progress is shown even if standard output
   * is a terminal, which only gets the result. Default: no.
   */
  readonly isSum?: boolean
}

/**
 * Prints the records of files or of a store in a format.
 * @param store Path of the store, true for the path that `sonde up` uses, or undefined for files.
 * @returns The exit code.
 */
export async function printRecords(
  paths: readonly string[],
  store: string | true | undefined,
  { options, format, defaultStore, isSum = false }: PrintOptions,
): Promise<number> {
  const named = checkedPaths(paths, store)
  const showsProgress = isSum || process.stdout.isTTY !== true
  if (store !== undefined)
    return printStore(store === true ? await defaultStore() : store, {
      ...{ options, format, progress: progressOf(undefined, showsProgress) },
      order: isSum ? 'time' : 'arrival',
    })
  const found = findFiles(named)
  if (!tellFound(found, paths, options)) return 1
  const output = new Output(process.stdout)
  const isSound = await print(found, { options, format, showsProgress }, output)
  await output.flush()
  return isSound && (options.follow || found.faults.length === 0) ? 0 : 1
}

/** The paths, unless a store is named too. */
export function checkedPaths(paths: readonly string[], store: string | true | undefined): readonly string[] {
  if ((store === undefined) !== (paths.length === 0)) return paths
  throw new ConfigError(['sonde reads either files of records or a store; give paths, or --store'])
}

/** Reports paths without files. Returns whether there is something to read, or to wait for. */
export function tellFound(found: FoundFiles, paths: readonly string[], { follow }: ReadOptions): boolean {
  for (const fault of found.faults) tell(follow ? `${fault.message}; it is waited for` : fault.message)
  if (found.files.length > 0 || follow) return true
  if (found.faults.length === 0) tell(`${paths.join(', ')}: no file of records (*.bin) is there`)
  return false
}

async function print(
  found: FoundFiles,
  { options, format, showsProgress }: Pick<PrintOptions, 'options' | 'format'> & { readonly showsProgress: boolean },
  output: Output,
): Promise<boolean> {
  const selection = selectionOf(options)
  const progress = progressOf(options.follow ? [] : found.files, showsProgress)
  let doneBytes = 0
  let records = 0
  const say = (line: string) => {
    progress.clear()
    tell(line)
  }
  const printer = new Printer({
    ...options,
    selection,
    format,
    output,
    tell: say,
    onProgress: (reading) => progress.at(doneBytes + reading.at, records + reading.recordCount),
  })
  if (options.follow) {
    await follow(found, printer, async () => {
      await output.write(format.rest())
      await output.flush()
    })
  } else {
    for (const path of found.files) {
      const reading = printer.isDone ? undefined : printer.open(path)
      if (reading === undefined) continue
      await printer.drain(reading)
      printer.close(reading)
      doneBytes += reading.bytes
      records += reading.recordCount
    }
  }
  progress.clear()
  await output.write(format.rest())
  const { printed, unreadable, damaged, faulty } = printer
  // An unreadable file might have matched, and a followed file may still grow.
  reportLeftOut(selection, options, printed === 0 && !options.follow && unreadable === 0 && faulty === 0)
  return unreadable === 0 && damaged === 0 && !(options.strict && faulty > 0)
}

/** Progress of the reading of files; without files, of a store. It is shown on a terminal only. */
export function progressOf(files: readonly string[] | undefined, mayShow: boolean): Progress {
  const isShown = mayShow && process.stderr.isTTY === true && files?.length !== 0
  return new Progress(isShown ? (files ?? []).reduce((bytes, path) => bytes + sizeOf(path), 0) : 0, { isShown })
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
