import { SondeError } from '@sonde/sdk'
import type { DocaLibrary } from '../../native/doca/library.ts'
import type { LibraryDefinition } from '../source.ts'
import { findDocaLibrary } from './find-library.ts'
import { DOCA_HOST } from './options.ts'

/**
 * NVIDIA's libraries, for all sources that use them. Calls of one device run one after another, calls of several
 * devices in parallel; see ADR 17.
 */
export const docaLibrary: LibraryDefinition<DocaLibrary> = {
  name: DOCA_HOST,
  parallel: Number.POSITIVE_INFINITY,
  async open(_options, paths) {
    // Only the child process imports it; see the README of the folder.
    const { DocaLibrary } = await import('../../native/doca/library.ts')
    const found = findDocaLibrary(paths.doca_library)
    if (typeof found === 'string') throw new SondeError('SRC_LIBRARY', found)
    return new DocaLibrary(found)
  },
  labels: (library) => (library.isDouble ? { simulated: 'true' } : {}),
  // The library is not unloaded while calls may be open. It ends with the child process.
  close: () => undefined,
}
