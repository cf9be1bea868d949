import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { SondeError } from '@sonde/sdk'
import { systemReason } from '../../config/file.ts'

/** `<tag><µs>.bin`, the name of a record file that a sink writes. */
const NAME = /^(.*)(\d{16})\.bin$/
const DEPTH_LIMIT = 8

/** A folder that is searched for record files. */
export interface RecordFolder {
  readonly folder: string
  /** Whether a file below the folder is selected. */
  takes(path: string): boolean
}

/** The files and folders that paths of the command line stand for. */
export interface FoundFiles {
  /** Files in the order of their paths, which for one source is the order of time. */
  readonly files: readonly string[]
  /** Folders in which more files may appear. */
  readonly folders: readonly RecordFolder[]
  /** Paths that have no files, with the reason: the path is missing, or cannot be read. */
  readonly faults: readonly SondeError[]
}

/**
 * Finds the named files, and all `*.bin` below the named folders. The `*.bin.late` of a queue whose process ended count
 * too. A missing path may become a folder later.
 */
export function findFiles(paths: readonly string[]): FoundFiles {
  const files: string[] = []
  const folders: RecordFolder[] = []
  const faults: SondeError[] = []
  for (const path of paths) {
    try {
      const isFolder = trying(path, () => statSync(path)).isDirectory()
      const place = isFolder ? { folder: path, takes: isRecords } : successorsOf(path)
      files.push(...(isFolder ? filesIn({ folder: path, takes: isRecords }) : [path]))
      if (place !== undefined) folders.push(place)
    } catch (error) {
      if (!(error instanceof SondeError)) throw error
      faults.push(error)
      if (isMissing(error.cause)) folders.push({ folder: path, takes: isRecords })
    }
  }
  return { files: onceEach(files), folders, faults }
}

/** The files of a folder, in the order of their paths. A missing folder has none. */
export function filesIn({ folder, takes }: RecordFolder): string[] {
  const found: string[] = []
  let level = [folder]
  for (let depth = 0; depth < DEPTH_LIMIT && level.length > 0; depth++) {
    const below: string[] = []
    for (const each of level) {
      for (const entry of entriesOf(each)) {
        const path = join(each, entry.name)
        if (entry.isDirectory()) below.push(path)
        else if (takes(path)) found.push(path)
      }
    }
    level = below
  }
  return found.sort()
}

/** Each file once, by the first name under which it appears. */
function onceEach(paths: readonly string[]): string[] {
  const known = new Set<string>()
  return paths.filter((path) => !known.has(resolve(path)) && known.add(resolve(path)))
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (!isMissing(error)) {
      throw new SondeError('DTB_READ', `${folder} cannot be read: ${systemReason(error)}`, { cause: error })
    }
    return []
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}

function isRecords(path: string): boolean {
  return /\.bin(\.late)?$/.test(path)
}

/**
 * The later files of the source of a file in the layout of sinks: `<root>/<yyyy>/<mmdd>/<source>/<tag><µs>.bin`.
 */
function successorsOf(path: string): RecordFolder | undefined {
  const source = dirname(path)
  const day = dirname(source)
  const year = dirname(day)
  const [, tag, time] = NAME.exec(basename(path)) ?? []
  if (time === undefined || !/^\d{4}$/.test(basename(day)) || !/^\d{4}$/.test(basename(year))) return undefined
  const folder = basename(source)
  return {
    folder: dirname(year),
    takes(other) {
      const [, otherTag, otherTime = ''] = NAME.exec(basename(other)) ?? []
      return basename(dirname(other)) === folder && otherTag === tag && otherTime > time
    },
  }
}

function trying<T>(path: string, call: () => T): T {
  try {
    return call()
  } catch (cause) {
    throw new SondeError('DTB_READ', `${path} cannot be read: ${systemReason(cause)}`, { cause })
  }
}
