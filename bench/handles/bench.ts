import { atLeast, type BenchResult, type Figure, median } from '../bench.ts'
import { type Contender, openTelemetry, promClientChildren, promClientLabels, SERIES, sondeHandles } from './load.ts'

const OPERATIONS = ['add', 'set', 'observe'] as const
const WORDS = { add: 'counter', set: 'gauge', observe: 'histogram' } as const
const GATE = 10

/** Time of one update. Unit: nanoseconds. */
function nsOf({ times, ...contender }: Contender, operation: (typeof OPERATIONS)[number]): number {
  const start = process.hrtime.bigint()
  contender[operation](times)
  return Number(process.hrtime.bigint() - start) / times
}

/** How fast a metric is updated; see the README beside. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const ours = sondeHandles()
  const peers = [promClientLabels(), promClientChildren(), openTelemetry()]
  const figures: Figure[] = []
  for (const operation of OPERATIONS) {
    const samples = new Map([ours, ...peers].map((contender) => [contender, [] as number[]]))
    for (let round = -2; round < rounds; round++) {
      for (const [contender, ns] of samples) {
        const taken = nsOf(contender, operation)
        if (round >= 0) ns.push(taken)
      }
    }
    const own = samples.get(ours) ?? []
    for (const peer of peers) {
      const ratio = median((samples.get(peer) ?? []).map((ns, i) => ns / (own[i] ?? Number.NaN)))
      const isGate = peer.name.startsWith('prom-client')
      figures.push({
        name: `${WORDS[operation]}: bound handle against ${peer.name}`,
        value: ratio,
        unit: 'x',
        ...(isGate ? { gate: atLeast(ratio, GATE) } : {}),
      })
    }
    for (const [{ name }, ns] of samples) {
      figures.push({ name: `${WORDS[operation]}: ${name}`, value: 1000 / median(ns), unit: 'M updates/s' })
    }
  }
  const versions = 'prom-client 15.1.3, @opentelemetry/sdk-metrics 2.12.1'
  return { figures, lines: [`${SERIES} series of three labels, updated in turn on one core; ${versions}.`] }
}
