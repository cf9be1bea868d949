import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** A directory for a socket, which goes with the test. */
export function temporarySockets(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'sonde-ipc-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
