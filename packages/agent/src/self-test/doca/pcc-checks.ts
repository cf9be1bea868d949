import { DocaFailure } from '../../native/doca/failure.ts'
import { Pcc, type PccAlgorithm } from '../../native/doca/pcc.ts'
import { listOf, notPossible, passed } from '../check.ts'
import { type Bench, judged, openPart } from './bench.ts'
import { type Counters, checkReadings } from './readings.ts'

/** Sonde asks each second whether the algorithms are the same, and reads their counters. Unit: milliseconds. */
const COST_MS = 50

/** Checks programmable congestion control of a device. */
export async function checkPcc(bench: Bench): Promise<void> {
  const pcc = await openPart(bench, 'pcc', Pcc.open)
  if (pcc === undefined) return
  let counting: readonly PccAlgorithm[] = []
  await bench.check('pcc.names', () =>
    judged(bench, pcc.algorithms(), (algorithms) => {
      counting = algorithms.filter(({ isCounting }) => isCounting)
      return algorithms.length === 0
        ? notPossible('no slot has an algorithm')
        : passed(listOf(algorithms.map(algorithmText)))
    }),
  )
  const checks = { monotony: 'pcc.monotony', traffic: 'pcc.traffic', cost: 'pcc.cost', costMs: COST_MS } as const
  await checkReadings(bench, { ...checks, wraps: true }, () => readCounters(pcc, counting))
  await pcc.close()
}

async function readCounters(pcc: Pcc, algorithms: readonly PccAlgorithm[]): Promise<Counters | DocaFailure> {
  const named = new Map<string, number>()
  for (const algorithm of algorithms) {
    const isSame = await pcc.isSame(algorithm)
    if (isSame instanceof DocaFailure) return isSame
    if (!isSame) continue
    const counters = await pcc.counters(algorithm)
    if (counters instanceof DocaFailure) return counters
    for (const [at, value] of counters.entries()) named.set(`${algorithm.slot}: ${algorithm.counters[at]}`, value)
  }
  return named
}

function algorithmText({ slot, id, major, minor, counters, isEnabled, isCounting }: PccAlgorithm): string {
  const state = isEnabled ? (isCounting ? 'counts' : 'does not count') : 'is off'
  return `slot ${slot} has algorithm ${id} version ${major}.${minor}, which ${state}, with ${listOf(counters)}`
}
