import { resolve } from 'node:path'
import type { SinkDefinition } from '../registry.ts'
import { agentFilesEntries, defaultDataRoot, filesEntries } from './config.ts'
import { checkDataRoot } from './data-root.ts'
import { createFiles } from './files.ts'
import { lookAtFiles } from './look.ts'
import { isFilesName } from './paths.ts'

/** Types that a file begins with; others follow when they are first seen. */
const TYPE_COUNT = 200

/** The row of files. */
export const filesSink: SinkDefinition<typeof filesEntries> = {
  name: 'files',
  summary: 'Files of records on disk, which `sonde read` reads',
  order: 'series',
  isDurable: true,
  entries: filesEntries,
  agentEntries: agentFilesEntries,
  complete: (options) => ({ ...options, dataRoot: resolve(options.dataRoot ?? defaultDataRoot()) }),
  place: ({ dataRoot = '' }) => dataRoot,
  isOwnName: isFilesName,
  prepare: ({ dataRoot = '' }) => checkDataRoot(dataRoot),
  create: (options, { types, ...context }) =>
    createFiles({ ...options, ...context, types: types.slice(0, TYPE_COUNT) }),
  look: ({ dataRoot = '', maxBytes }, place) => lookAtFiles(dataRoot, maxBytes, place),
}
