import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killServices, killWriter } from '../../../packages/sdk/test/files-killed.ts'
import type { FaultLoop } from '../loop.ts'

/** A writer of files that is killed. */
export const files: FaultLoop = {
  name: 'files',
  what: 'a writer of files is killed with -9, five times a round: what was flushed is there, whole and in order; pages that are sent again to the next one are there once',
  // The short form is `files/files-faults.test.ts`.
  testRounds: 0,
  async open() {
    let pages = 0
    return {
      async round(random) {
        const root = mkdtempSync(join(tmpdir(), 'sonde-faults-'))
        try {
          await killWriter(join(root, 'writer'), random)
          pages += await killServices(join(root, 'services'), random)
        } finally {
          rmSync(root, { recursive: true, force: true })
        }
      },
      async close() {
        return `${pages} pages`
      },
    }
  },
}
