import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Batch, readRecords, viewsOf } from '../src/index.ts'
import { DtbDecoder, type DtbEnd } from '../src/wire/dtb/decode.ts'
import type { SourceEntry } from '../src/wire/dtb/format.ts'

/** What has an end: a test, or a round of a property. */
export type Ending = Pick<TestContext, 'after'>

/** Runs a round whose `after` is called at its end, the last first. */
export async function withEnding(run: (t: Ending) => Promise<void>): Promise<void> {
  const ends: (() => unknown)[] = []
  try {
    await run({ after: (end) => void ends.unshift(end as () => unknown) })
  } finally {
    for (const end of ends) await end()
  }
}

/** A folder that is gone at the end. */
export function temporaryFolder(t: Ending): string {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-files-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** What a file holds. */
export interface ReadFile {
  readonly path: string
  readonly bytes: number
  readonly source: SourceEntry | undefined
  readonly fingerprint: string | undefined
  readonly batches: readonly (Batch & { readonly records: readonly Readonly<Record<string, unknown>>[] })[]
  readonly end: DtbEnd
}

/** Reads a file from its first byte to its last. */
export function readFile(path: string): ReadFile {
  const bytes = readFileSync(path)
  const decoder = new DtbDecoder({ bytes: bytes.byteLength, read: (at, count) => bytes.subarray(at, at + count) })
  const batches: (Batch & { records: Record<string, unknown>[] })[] = []
  for (;;) {
    const step = decoder.next()
    if (step.kind === 'stop') {
      const { source, header } = decoder
      return { path, bytes: bytes.byteLength, source, fingerprint: header?.fingerprint, batches, end: step.end }
    }
    if (step.kind !== 'records') continue
    const { batch } = step
    const kept = { ...batch, bytes: batch.bytes.slice() }
    const { type, count, symbols } = kept
    batches.push({ ...kept, records: [...readRecords(type, viewsOf(kept.bytes), count, symbols)] })
  }
}

/** Paths of all files of records below a root, the oldest first. */
export function pathsBelow(root: string): string[] {
  const time = (path: string) => path.slice(-20)
  return globSync('[0-9][0-9][0-9][0-9]/*/*/*.bin', { cwd: root })
    .sort((a, b) => (time(a) < time(b) ? -1 : 1))
    .map((path) => join(root, path))
}

/** All files below a root, the oldest first. */
export function readFiles(root: string): ReadFile[] {
  return pathsBelow(root).map(readFile)
}
