import { test } from 'node:test'
import {
  type Batch,
  createSource,
  type ReadRecord,
  readRecord,
  type Source,
  type SourceOptions,
  viewsOf,
} from '../src/index.ts'
import { Random, SEED } from './random.ts'

/**
 * A test that runs many rounds with random input. Every round has its own seed; a failure reports it, and
 * `SONDE_SEED=<seed>` starts with that round.
 */
export function property(name: string, rounds: number, run: (random: Random) => void | Promise<void>): void {
  test(name, async () => {
    for (let seed = SEED; seed < SEED + rounds; seed++) {
      try {
        await run(new Random(seed))
      } catch (error) {
        throw new Error(`failed with SONDE_SEED=${seed}`, { cause: error })
      }
    }
  })
}

/** A batch that was emitted, its bytes kept, its records read. */
export interface Emitted extends Batch {
  readonly records: readonly ReadRecord[]
}

/** A source and everything it emits. */
export function recordingSource(options: Partial<SourceOptions> = {}): { source: Source; emitted: Emitted[] } {
  const emitted: Emitted[] = []
  const emit = (batch: Batch) => {
    const bytes = batch.bytes.slice()
    const views = viewsOf(bytes)
    const { recordBytes } = batch.type.layout
    const records = Array.from({ length: batch.count }, (_, i) =>
      readRecord(batch.type, views, i * recordBytes, batch.symbols),
    )
    emitted.push({ ...batch, bytes, records })
  }
  return { source: createSource({ id: 'test', emit, ...options }), emitted }
}

/** The `code` and a part of the message, for `assert.throws`. */
export function sondeError(code: string, part: RegExp = /./): (error: unknown) => boolean {
  return (error) => error instanceof Error && 'code' in error && error.code === code && part.test(error.message)
}

/** Waits until `look` gives something, or true. Fails, with what was waited for, once `limitMs` have passed. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 60_000,
): Promise<T> {
  const endMs = performance.now() + limitMs
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > endMs) throw new Error(`not within ${limitMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
