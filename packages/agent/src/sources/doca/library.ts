import { SondeError } from '@sonde/sdk'
import type { DocaLibrary } from '../../native/doca/library.ts'
import type { LibraryDefinition } from '../source.ts'
import { findDocaLibrary } from './find-library.ts'
import { DOCA_HOST } from './options.ts'

/**
 * NVIDIA's libraries, for all sources that read them. Calls of one device are made one after another and those of
 * several devices beside one another; see ADR 17.
 */
export const docaLibrary: LibraryDefinition<DocaLibrary> = {
  name: DOCA_HOST,
  parallel: Number.POSITIVE_INFINITY,
  async open(_options, paths) {
    // Imported by the child alone: see the README of the folder.
    const { DocaLibrary } = await import('../../native/doca/library.ts')
    const found = findDocaLibrary(paths.doca_library)
    if (typeof found === 'string') throw new SondeError('SRC_LIBRARY', found)
    return new DocaLibrary(found)
  },
  labels: (library) => (library.isDouble ? { simulated: 'true' } : {}),
  // A library of calls that may still be open is not unloaded: the child ends with it.
  close: () => undefined,
}
