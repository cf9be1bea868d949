import assert from 'node:assert/strict'
import { CHECK } from '../numbered.ts'

/**
 * How a far end answers: `fails` says that it is busy, `mute` takes everything and breaks off before its answer, `gone`
 * has closed its port.
 */
export type Way = 'takes' | 'fails' | 'mute' | 'gone'

/** A numbered record as it arrived. */
export interface Arrival {
  readonly number: number
  /** All digits, or the nearest double where the receiver has no more; absent where only metrics arrive. */
  readonly check?: string | number
  readonly worker: string
  readonly time: string
}

/** What the far end of a sink may see; the README of each sink says so. */
export interface Promises {
  /** Whether records arrive in one order, or those of each series, or in none. Repetitions count nowhere. */
  readonly order: 'total' | 'series' | 'none'
  /** Whether the far end has each record once, whatever was sent again. */
  readonly once?: boolean
  /** Whether the records of a series all have times of their own. */
  readonly ownTimes?: boolean
}

/** A receiver of numbered records. It is away at times, and knows which numbers arrived how often. */
export abstract class NumberReceiver {
  /** The name of its sink below `export`. */
  abstract readonly kind: string
  abstract readonly promises: Promises
  /** Records that arrived again. */
  repeated = 0
  /** Records that arrived for the first time. */
  count = 0
  /** Faults of records and requests; a round fails with any. */
  readonly faults: string[] = []
  /** The time of each number that arrived. */
  readonly #times = new Map<number, string>()
  readonly #numbers = new Map<string, number>()
  readonly #highest = new Map<string, number>()
  #settledBelow = 0

  /** The options with which a sink finds it. */
  abstract readonly options: Readonly<Record<string, unknown>>
  abstract start(): Promise<this>
  abstract setWay(way: Way): Promise<void>
  abstract close(): Promise<void>

  /** The first number of a range that has not arrived; undefined if all have. */
  firstMissing(from: number, to: number): number | undefined {
    for (let number = Math.max(from, this.#settledBelow); number < to; number++)
      if (!this.#times.has(number)) return number
    return undefined
  }

  /** Forgets the numbers below one; from now on they arrive again. Every other number must be in a range. */
  settle(below: number, ranges: readonly { readonly first: number; readonly end: number }[]): void {
    assert.deepEqual(this.faults, [], this.kind)
    if (this.promises.once) assert.equal(this.repeated, 0, `${this.kind}: records arrived again`)
    for (const number of this.#times.keys()) {
      const isReported = ranges.some(({ first, end }) => first <= number && number < end)
      assert.ok(isReported, `${this.kind}: ${number} arrived, but was never reported: ${JSON.stringify(ranges)}`)
      if (number < below) this.#times.delete(number)
    }
    for (const [key, number] of this.#numbers) if (number < below) this.#numbers.delete(key)
    this.#settledBelow = below
  }

  protected take({ number, check, worker, time }: Arrival): void {
    const wanted = BigInt.asUintN(64, (BigInt(number) + 1n) * CHECK)
    if (check !== undefined && check !== (typeof check === 'string' ? String(wanted) : Number(wanted)))
      this.fault(`${number} is torn: ${check}`)
    const before = this.#times.get(number)
    if (before !== undefined || number < this.#settledBelow) {
      this.repeated++
      if (before !== undefined && before !== time) this.fault(`${number} of ${before} came again at ${time}`)
      return
    }
    this.count++
    this.#times.set(number, time)
    const { order, ownTimes } = this.promises
    if (ownTimes) {
      const other = this.#numbers.get(`${worker} ${time}`)
      if (other !== undefined) this.fault(`${other} and ${number} of ${worker} have the time ${time}`)
      this.#numbers.set(`${worker} ${time}`, number)
    }
    if (order === 'none') return
    const line = order === 'total' ? '' : worker
    const highest = this.#highest.get(line) ?? -1
    if (number < highest) this.fault(`${number} arrived after ${highest}`)
    this.#highest.set(line, Math.max(highest, number))
  }

  /** Notes a fault. The first ten are kept. */
  protected fault(words: string): void {
    if (this.faults.length < 10) this.faults.push(words)
  }
}
