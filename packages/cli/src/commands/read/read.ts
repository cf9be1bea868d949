import { statSync } from 'node:fs'
import { ConfigError } from '../../config/config-error.ts'
import { findFiles } from './files.ts'
import { follow } from './follow.ts'
import { formatOf } from './formats.ts'
import { reportLeftOut } from './nothing.ts'
import { type ReadFlags, type ReadOptions, readOptions } from './options.ts'
import { Output, tell } from './output.ts'
import { Printer } from './print.ts'
import { printStore } from './print-store.ts'
import { Progress } from './progress.ts'
import { selectionOf } from './select.ts'
import { verify } from './verify.ts'

/**
 * `sonde read FILE|DIR…`: prints the records of files, sums them up, or verifies them. Exit code 0, or 1 if a file is
 * unreadable or damaged; with `--strict` also if its last block is cut off. With `--store` it prints the records of a
 * store.
 *
 * @param defaultStore Returns the path of the store if `--store` names none.
 */
export async function runRead(
  paths: readonly string[],
  flags: ReadFlags,
  defaultStore: () => Promise<string>,
): Promise<number> {
  const options = readOptions(flags, process.stdout.isTTY === true)
  if ((flags.store === undefined) === (paths.length === 0)) {
    throw new ConfigError(['sonde read prints either files of records or a store; give paths, or --store'])
  }
  if (flags.store !== undefined) return printStore(flags.store === true ? await defaultStore() : flags.store, options)
  const found = findFiles(paths)
  const output = new Output(process.stdout)
  for (const fault of found.faults) tell(options.follow ? `${fault.message}; it is waited for` : fault.message)
  if (found.files.length === 0 && !options.follow) {
    if (found.faults.length === 0) tell(`${paths.join(', ')}: no file of records (*.bin) is there`)
    return 1
  }
  const isSound =
    options.task === 'verify'
      ? await verify(found.files, options, output, { progress: progressOf(found.files), tell })
      : await print(found, options, output)
  await output.flush()
  return isSound && (options.follow || found.faults.length === 0) ? 0 : 1
}

async function print(found: ReturnType<typeof findFiles>, options: ReadOptions, output: Output): Promise<boolean> {
  const selection = selectionOf(options)
  const format = formatOf(options)
  const progress = progressOf(options.follow ? [] : found.files)
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

/** Whether progress is shown: only if the records themselves do not go to the terminal. */
function progressOf(files: readonly string[]): Progress {
  const isShown = process.stderr.isTTY === true && process.stdout.isTTY !== true && files.length > 0
  return new Progress(isShown ? files.reduce((bytes, path) => bytes + sizeOf(path), 0) : 0, { isShown })
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
