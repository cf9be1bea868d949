// How fast records reach another process of the machine, how long one is under way, and what it costs the application's event loop.
import { atLeast, atMost, type BenchResult, type Figure, median } from '../bench.ts'
import { type Contender, lines, objects, packed, type Speed, speedOf } from './contenders.ts'
import { RATE, type Steady, steady } from './steady.ts'

const SPEED_GATE = 5
const RATIO_GATE = 5
const LATENCY_GATE_MS = 5
const TURN_GATE_MS = 5

/** See the README beside. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const speeds = new Map<Contender, Speed[]>([packed, objects, lines].map((contender) => [contender, []]))
  const [reported, discarded]: [Steady[], Steady[]] = [[], []]
  for (let round = -1; round < rounds; round++) {
    for (const [contender, found] of speeds) {
      const speed = await speedOf(contender)
      if (round >= 0) found.push(speed)
    }
    if (round < 0) continue
    reported.push(await steady('ipc'))
    discarded.push(await steady('discarded'))
  }
  const rival = speeds.get(lines) ?? []
  const figures: Figure[] = []
  for (const contender of [packed, objects]) {
    const ratios = (speeds.get(contender) ?? []).map(
      ({ millionsPerSecond }, i) => millionsPerSecond / (rival[i]?.millionsPerSecond ?? Number.NaN),
    )
    const ratio = median(ratios)
    figures.push({
      name: `${contender.name} against JSON lines`,
      value: ratio,
      unit: 'x',
      gate: atLeast(ratio, RATIO_GATE),
    })
  }
  for (const [contender, found] of speeds) {
    const speed = median(found.map(({ millionsPerSecond }) => millionsPerSecond))
    const gate = contender === packed ? { gate: atLeast(speed, SPEED_GATE) } : {}
    figures.push({ name: contender.name, value: speed, unit: 'M records/s', ...gate })
  }
  for (const [{ name }, found] of speeds) {
    const seconds = median(found.map(({ cpuSeconds }) => cpuSeconds))
    figures.push({ name: `${name}, processor time of both sides`, value: seconds, unit: 's/M records' })
  }
  return { figures: [...figures, ...steadyFigures(reported, discarded)], lines: NOTES }
}

function steadyFigures(reported: readonly Steady[], discarded: readonly Steady[]): Figure[] {
  const p99 = median(reported.map(({ latenciesMs }) => percentile(latenciesMs, 0.99)))
  const p50 = median(reported.map(({ latenciesMs }) => percentile(latenciesMs, 0.5)))
  const turn = median(reported.map(({ turnCpuMsMax }) => turnCpuMsMax))
  const others: readonly (readonly [string, number])[] = [
    ['processor time, records discarded', median(discarded.map(({ turnCpuMsMax }) => turnCpuMsMax))],
    ['real time', median(reported.map(({ turnMsMax }) => turnMsMax))],
    ['real time, records discarded', median(discarded.map(({ turnMsMax }) => turnMsMax))],
  ]
  const at = `at ${RATE / 1000} k records/s`
  return [
    { name: `under way ${at}, p99`, value: p99, unit: 'ms', gate: atMost(p99, LATENCY_GATE_MS) },
    { name: `under way ${at}, p50`, value: p50, unit: 'ms' },
    {
      name: `longest turn of the loop ${at}, processor time`,
      value: turn,
      unit: 'ms',
      gate: atMost(turn, TURN_GATE_MS),
    },
    ...others.map(([name, value]) => ({ name: `longest turn of the loop ${at}, ${name}`, value, unit: 'ms' })),
  ]
}

function percentile(values: readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.floor(sorted.length * part)] ?? Number.NaN
}

const NOTES = [
  'Records of 100 bytes, to a process that counts each and adds up a number of each; pages are checked by their CRC-32 besides. Time is that from the first report until all are counted.',
  'Latency is from the clock reading in a record to its being counted, both of the monotonic clock of the machine; records are reported and flushed every 2 ms.',
  'The longest turn is that of the process that reports, everything in it included, in 5 s a round; real time includes what the machine did meanwhile.',
]
