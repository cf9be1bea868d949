import assert from 'node:assert/strict'
import { createStore } from '@sonde/console'
import {
  type Batch,
  counter,
  createIpc,
  createSource,
  defineType,
  type IpcSink,
  label,
  readRecords,
  timestamp,
  value,
  viewsOf,
  wallNs,
} from '@sonde/sdk'

const PERIOD_MS = 10
const RECORDS_OF_PERIOD = 20
const SPOOL_BYTES = 16 << 20
/** Makes a second field of a number, by which a record that was torn is told. */
export const CHECK = 0x9e3779b97f4a7c15n

/** What an honest application reports in fault loops. */
export const numberedType = defineType('numbered', 'Records with a number', {
  time: timestamp(),
  worker: label(),
  number_total: counter('u64'),
  check: value('u64'),
})

/** Reports numbered records all the time, and knows how many it had reported when. */
export class Reporter {
  readonly sink: IpcSink
  reported = 0
  readonly #timer: NodeJS.Timeout
  #history: { readonly timeMs: number; readonly reported: number }[] = []

  constructor(socketsDir: string) {
    this.sink = createIpc({ socketsDir, spoolBytes: SPOOL_BYTES })
    const source = createSource({ id: 'fault', tag: 'loop', emit: (batch) => this.sink.accept(batch) })
    this.#timer = setInterval(() => {
      for (let i = 0; i < RECORDS_OF_PERIOD; i++) {
        const number = BigInt(this.reported++)
        const check = BigInt.asUintN(64, (number + 1n) * CHECK)
        source.report(numberedType, { time: wallNs(), worker: `w${number % 3n}`, number_total: number, check })
      }
      source.flush()
      this.#history.push({ timeMs: performance.now(), reported: this.reported })
      assert.ok(this.sink.status().spooledBytes <= SPOOL_BYTES)
    }, PERIOD_MS)
  }

  /** Records that had been reported a time ago. */
  reportedBefore(agoMs: number): number {
    const limitMs = performance.now() - agoMs
    const before = this.#history.filter(({ timeMs }) => timeMs <= limitMs)
    this.#history = this.#history.slice(Math.max(0, before.length - 1))
    return before.at(-1)?.reported ?? 0
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** Each record is there once, and whole. */
export function assertOnce(batches: Iterable<Pick<Batch, 'bytes' | 'count' | 'symbols'>>, reported: number): void {
  const seen = new Uint8Array(reported)
  for (const { bytes, count, symbols } of batches) {
    for (const { number_total, check } of readRecords(numberedType, viewsOf(bytes), count, symbols)) {
      // Of a client that poses as the reporter.
      if (check === 0n) continue
      assert.equal(check, BigInt.asUintN(64, (BigInt(number_total) + 1n) * CHECK), 'a record is torn')
      const number = Number(number_total)
      assert.equal(seen[number], 0, `record ${number} of ${reported} came back twice, or was never reported`)
      seen[number] = 1
    }
  }
  assert.equal(seen.indexOf(0), -1, 'a record is missing')
}

/** Reads everything that the reporter reported back from a store. */
export async function assertStored(path: string, reported: number): Promise<void> {
  const store = await createStore({ path })
  try {
    const limits = { fromMs: 0, toMs: Number.MAX_VALUE, recordLimit: 10_000_000 }
    const batches = await store.records({ type: numberedType.name, ...limits })
    const { fingerprint } = numberedType
    assertOnce(
      batches.filter(({ type }) => type.fingerprint === fingerprint),
      reported,
    )
  } finally {
    await store.close()
  }
}
