import { counter, createSource, defineType, label, readRecords, type Source, timestamp, viewsOf } from '@sonde/sdk'
import type { Store } from '../server/store/store.ts'

/** Records that carry a number each, so that a lost or doubled one is found. */
export const countedType = defineType('counted', 'Records that are counted', {
  time: timestamp(),
  writer: label(),
  number: counter('u64'),
})

/** Reports numbered records to a store. */
export class Counting {
  readonly #source: Source
  #next = 0

  constructor(store: Store, writer = 'test') {
    this.#source = createSource({ id: writer, emit: (batch) => store.accept(batch) })
  }

  /** Reports the next records; `startMs` is the time of number 0. */
  report(count: number, startMs = Date.now()): void {
    for (let i = 0; i < count; i++) {
      const number = this.#next++
      this.#source.report(countedType, { time: BigInt(startMs + number) * 1_000_000n, writer: 'child', number })
    }
    this.#source.flush()
  }
}

/** The numbers that a store holds, ascending. */
export async function numbersIn(store: Store): Promise<number[]> {
  const request = { type: countedType.name, fromMs: 0, toMs: Number.MAX_VALUE, recordLimit: 10_000_000 }
  const batches = await store.records(request)
  const numbers = batches.flatMap(({ bytes, count, symbols }) => {
    return [...readRecords(countedType, viewsOf(bytes), count, symbols)].map(({ number }) => Number(number))
  })
  return numbers.sort((a, b) => a - b)
}

/** The numbers from 0 up to, not including, `count`. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i)
}
