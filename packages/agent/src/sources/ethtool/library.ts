import type { EthtoolSocket } from '../../native/ethtool.ts'
import type { LibraryDefinition } from '../source.ts'

/**
 * The calls to drivers. The kernel runs most of them one at a time, so they are made one after another. A slow driver
 * keeps its own thread. The calls use at most half of the time, because other programs call drivers too.
 *
 * @param library Given by tests: what stands in for the C library.
 */
export function ethtoolLibrary(library?: string): LibraryDefinition<EthtoolSocket> {
  return {
    name: 'ethtool',
    parallel: 1,
    loadShare: 0.5,
    async open() {
      // Imported by the child alone: see the README of the folder.
      const { EthtoolSocket } = await import('../../native/ethtool.ts')
      return new EthtoolSocket(library)
    },
    close: (socket) => socket.close(),
  }
}
