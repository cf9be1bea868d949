import { setTimeout as pause } from 'node:timers/promises'
import { countOf } from '@sonde/sdk/internal'
import { DocaFailure } from '../../native/doca/failure.ts'
import { type CheckVerdict, failed, listOf, notPossible, passed } from '../check.ts'
import { type Bench, verdictOf } from './bench.ts'
import type { DocaCheck } from './checks.ts'

const READINGS = 5
/** A counter of 32 bits that wrapped. Larger falls are no wrap. */
const WRAP = 1n << 32n
const US_PER_MS = 1000

/** Values of counters by their name. */
export type Counters = ReadonlyMap<string, number | bigint>

/** The checks that a series of readings answers, and what they expect. */
export interface ReadingChecks {
  readonly monotony: DocaCheck
  readonly traffic: DocaCheck
  readonly cost: DocaCheck
  /** Longest median time of a reading. Unit: milliseconds. */
  readonly costMs: number
  /** Whether the counters have 32 bits, and wrap. */
  readonly wraps?: boolean
}

interface Series {
  readonly readings: readonly Counters[]
  readonly costsUs: readonly number[]
  /** Bytes of the port between the first and the last reading; undefined if the driver does not count them. */
  readonly trafficBytes: bigint | undefined
}

/** Reads counters several times, and checks that none falls, which of them move, and how long a reading takes. */
export async function checkReadings(
  bench: Bench,
  checks: ReadingChecks,
  read: () => Promise<Counters | DocaFailure>,
): Promise<void> {
  let series: Series | DocaFailure | undefined
  const settled = async (judge: (series: Series) => CheckVerdict) => {
    series ??= await readSeries(bench, read)
    return series instanceof DocaFailure ? verdictOf(series, bench.device.name) : judge(series)
  }
  await bench.check(checks.monotony, () => settled((found) => monotonyOf(found, checks.wraps === true)))
  await bench.check(checks.traffic, () => settled(trafficOf))
  await bench.check(checks.cost, () => settled(({ costsUs }) => costOf(costsUs, checks.costMs)))
}

async function readSeries(
  { facts, pauseMs }: Bench,
  read: () => Promise<Counters | DocaFailure>,
): Promise<Series | DocaFailure> {
  const readings: Counters[] = []
  const costsUs: number[] = []
  const before = await facts.trafficBytes()
  for (let round = 0; round < READINGS; round++) {
    if (round > 0) await pause(pauseMs)
    const startMs = performance.now()
    const counters = await read()
    if (counters instanceof DocaFailure) return counters
    costsUs.push((performance.now() - startMs) * US_PER_MS)
    readings.push(counters)
  }
  const after = await facts.trafficBytes()
  return { readings, costsUs, trafficBytes: before === undefined || after === undefined ? undefined : after - before }
}

function monotonyOf({ readings }: Series, wraps: boolean): CheckVerdict {
  const names = readings[0]?.size ?? 0
  if (names === 0) return notPossible('there is no counter')
  const falls = readings.slice(1).flatMap((reading, at) =>
    [...reading].flatMap(([name, value]) => {
      const before = BigInt(readings[at]?.get(name) ?? value)
      const isWrapped = wraps && before - BigInt(value) > WRAP / 2n
      return BigInt(value) < before && !isWrapped ? [`${name} fell from ${before} to ${value}`] : []
    }),
  )
  if (falls.length > 0) return failed('no counter falls', listOf(falls))
  return passed(`${countOf(names, 'counter')} in ${readings.length} readings`)
}

function trafficOf({ readings, trafficBytes }: Series): CheckVerdict {
  if (trafficBytes === undefined) return notPossible('the RDMA driver does not count the bytes of the port')
  if (trafficBytes === 0n)
    return notPossible('nothing was sent or received: run ib_write_bw against another node, and the test again')
  const [first, last] = [readings[0], readings.at(-1)]
  const names = [...(last?.keys() ?? [])]
  if (names.length === 0) return notPossible('there is no counter')
  const moved = names.filter((name) => first?.get(name) !== last?.get(name))
  const still = names.filter((name) => !moved.includes(name))
  return passed(`moved: ${listOf(moved)}; did not move: ${listOf(still)}`)
}

function costOf(costsUs: readonly number[], limitMs: number): CheckVerdict {
  const sorted = costsUs.toSorted((a, b) => a - b)
  const [median = 0, most = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
  const found = `median ${Math.round(median)} µs, longest ${Math.round(most)} µs of ${sorted.length} readings`
  return median <= limitMs * US_PER_MS ? passed(found) : failed(`less than ${limitMs} ms`, found)
}
