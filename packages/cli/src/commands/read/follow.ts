import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FoundFiles, filesIn } from './files.ts'
import type { Printer } from './print.ts'
import type { FileReading } from './reading.ts'

/** How often files are checked for growth. Unit: milliseconds. */
const LOOK_MS = 100
/** How often folders are checked for new files. Unit: milliseconds. */
const SEARCH_MS = 1000
/** Number of files that stay open. Above it, the file that has been quiet the longest is closed. */
const OPEN_LIMIT = 256

/**
 * Prints the records that exist and those that arrive, also in new files; ends when the printer is done. `onIdle` is
 * called each time no more records are waiting.
 */
export async function follow(
  { files, folders }: FoundFiles,
  printer: Printer,
  onIdle: () => Promise<void>,
): Promise<void> {
  /** Keyed by absolute path, because a file may have several names. */
  const seen = new Set<string>()
  /** Ordered by last activity: the file that has been quiet the longest is first. */
  let open: FileReading[] = []
  let news: readonly string[] = files
  let searchMs = performance.now() + SEARCH_MS
  while (!printer.isDone) {
    // A new file of a source means that the previous file is complete, so the previous file is read first.
    const { quiet, busy } = await lookAt(open, printer)
    const opened = await openAll(news, seen, printer)
    open = closeMany([...quiet, ...busy, ...opened], printer)
    news = []
    if (performance.now() >= searchMs) {
      news = search(folders, seen)
      searchMs = performance.now() + SEARCH_MS
    } else if (busy.length === 0 && opened.length === 0) {
      await onIdle()
      if (!printer.isDone) await sleep(LOOK_MS)
    }
  }
  for (const reading of open) printer.close(reading)
}

/** Adds new files. Removed files are forgotten, so that memory stays bounded. */
function search(folders: FoundFiles['folders'], seen: Set<string>): string[] {
  const there = new Map(folders.flatMap(filesIn).map((path) => [resolve(path), path]))
  for (const path of seen) if (!there.has(path)) seen.delete(path)
  return [...there].filter(([path]) => !seen.has(path)).map(([, path]) => path)
}

async function lookAt(
  open: readonly FileReading[],
  printer: Printer,
): Promise<{ quiet: FileReading[]; busy: FileReading[] }> {
  const quiet: FileReading[] = []
  const busy: FileReading[] = []
  for (const reading of open) {
    reading.refresh()
    const list = (await printer.drain(reading)) ? busy : quiet
    if (reading.isDone) printer.close(reading)
    else list.push(reading)
  }
  return { quiet, busy }
}

async function openAll(paths: readonly string[], seen: Set<string>, printer: Printer): Promise<FileReading[]> {
  const opened: FileReading[] = []
  for (const path of paths) {
    seen.add(resolve(path))
    const reading = printer.isDone ? undefined : printer.open(path)
    if (reading === undefined) continue
    await printer.drain(reading)
    if (reading.isDone) printer.close(reading)
    else opened.push(reading)
  }
  return opened
}

/** Closes the files above the limit. */
function closeMany(open: readonly FileReading[], printer: Printer): FileReading[] {
  const over = Math.max(0, open.length - OPEN_LIMIT)
  for (const reading of open.slice(0, over)) printer.close(reading)
  return open.slice(over)
}
