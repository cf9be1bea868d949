import { findFiles } from './files.ts'
import { formatOf } from './formats.ts'
import { type ReadFlags, readOptions } from './options.ts'
import { Output, tell } from './output.ts'
import { checkedPaths, printRecords, progressOf, tellFound } from './print-records.ts'
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
  if (options.task !== 'verify' || flags.store !== undefined)
    return printRecords(paths, flags.store, { options, format: formatOf(options), defaultStore })
  const found = findFiles(checkedPaths(paths, flags.store))
  const output = new Output(process.stdout)
  if (!tellFound(found, paths, options)) return 1
  const progress = progressOf(found.files, process.stdout.isTTY !== true)
  const isSound = await verify(found.files, options, output, { progress, tell })
  await output.flush()
  return isSound && found.faults.length === 0 ? 0 : 1
}
