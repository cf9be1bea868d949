import type { Batch } from '@sonde/sdk'
import { SourceOutlet } from '../../packages/agent/src/hosting/source-outlet.ts'
import { NODE_CLASSES } from '../../packages/agent/src/sources/simulator/classes/classes.ts'
import type { EffectSpan } from '../../packages/agent/src/sources/simulator/effects.ts'
import { NodeReport } from '../../packages/agent/src/sources/simulator/report/node-report.ts'
import { Simulation } from '../../packages/agent/src/sources/simulator/simulation.ts'
import { EPOCH_MS } from '../../packages/agent/src/sources/simulator/time.ts'
import { type BenchResult, median } from '../bench.ts'

const SAMPLES = 1000
const START_S = 2.6e7
/** With fewer rounds the median says little. */
const ROUNDS_MIN = 7

/** A node that counts the values that it reports. */
class Load {
  values = 0
  readonly #report: NodeReport

  constructor(spans: readonly EffectSpan[]) {
    const [node] = NODE_CLASSES
    const simulation = new Simulation({ seed: 1, node, workload: 'training', effects: [{ spans }] })
    const { context } = new SourceOutlet({
      ...{ name: 'bench', intervalMs: 1000, paths: { procfs: '', sysfs: '' } },
      emit: (batch) => this.#count(batch),
      stats: { failed: { add: () => undefined }, dropped: new Map() },
    })
    this.#report = new NodeReport(simulation, context)
  }

  /** Processor time of a sample. Unit: milliseconds. */
  run(fromS: number, intervalS: number): number {
    const start = process.cpuUsage()
    for (let sample = 0; sample < SAMPLES; sample++) {
      const t = fromS + sample * intervalS
      this.#report.sample(BigInt(Math.round(EPOCH_MS + t * 1000)) * 1_000_000n, t)
    }
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000 / SAMPLES
  }

  #count({ type, count }: Batch): void {
    const fields = type.layout.slots.filter(({ field }) => field.kind !== 'symbol' && field.role !== 'timestamp')
    this.values += count * fields.length
  }
}

/** What a simulated node costs; see the README beside. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const healthy = new Load([])
  const struck = new Load(
    Array.from({ length: 100 }, (_, at) => ({
      fromS: START_S + at * 20,
      toS: START_S + at * 20 + 10,
      nics: { 3: { lossShare: 1e-4 } },
      gpus: { 5: { computeFactor: 1.2 } },
    })),
  )
  const taken = { healthy: [] as number[], struck: [] as number[], fast: [] as number[], values: [] as number[] }
  let bytes = 0
  for (let round = -2; round < Math.max(rounds, ROUNDS_MIN); round++) {
    const fromS = START_S + (round + 2) * SAMPLES
    healthy.values = 0
    const before = process.memoryUsage().heapUsed
    const ms = healthy.run(fromS, 1)
    const grown = process.memoryUsage().heapUsed - before
    if (grown > 0) bytes = Math.max(bytes, grown / SAMPLES)
    const struckMs = struck.run(fromS, 1)
    const fastMs = healthy.run(fromS, 0.01)
    if (round < 0) continue
    taken.healthy.push(ms)
    taken.struck.push(struckMs)
    taken.fast.push(fastMs)
    taken.values.push(healthy.values / 2 / SAMPLES / ms / 1000)
  }
  const values = median(taken.values)
  const share = median(taken.healthy) / 10
  return {
    figures: [
      { name: 'values of a healthy node', value: values, unit: 'M values/s' },
      { name: 'share of a core at 1 s', value: share, unit: '%' },
      { name: 'one sample, healthy', value: median(taken.healthy), unit: 'ms' },
      { name: 'one sample, 100 scenarios', value: median(taken.struck), unit: 'ms' },
      { name: 'one sample, every 10 ms', value: median(taken.fast), unit: 'ms' },
      { name: 'heap growth a sample, at most', value: bytes / 1024, unit: 'KiB' },
    ],
    lines: [`8 GPUs, 9 NICs, ${Math.round(healthy.values / 2 / SAMPLES)} values a sample, all types; one core.`],
  }
}
