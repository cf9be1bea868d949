import { dirname, resolve } from 'node:path'
import { messageOf } from '../../errors.ts'
import { checkFoldersNow } from '../../internal/make-folders.ts'
import type { SinkDefinition, SinkFinding } from '../registry.ts'
import { clashOfText } from '../text-options.ts'
import { fileEntries } from './config.ts'
import { createFile } from './file.ts'

/** The row of files of lines. */
export const fileSink: SinkDefinition<typeof fileEntries> = {
  name: 'file',
  summary: 'Records as lines of text, appended to a file',
  order: 'total',
  entries: fileEntries,
  refuse: clashOfText,
  complete: (options) => ({ ...options, path: resolve(options.path) }),
  place: ({ path }) => path,
  create: (options, { name, onLoss }) => createFile({ ...options, name, ...(onLoss === undefined ? {} : { onLoss }) }),
  look: ({ path }) => lookAtFolder(path),
}

function lookAtFolder(path: string): SinkFinding {
  try {
    const isThere = checkFoldersNow(dirname(path))
    return isThere
      ? { state: 'present', found: `lines can be written to ${path}` }
      : { state: 'absent', found: `${path} is made with the first record` }
  } catch (error) {
    return { state: 'denied', found: `${path} cannot be written: ${messageOf(error)}` }
  }
}
