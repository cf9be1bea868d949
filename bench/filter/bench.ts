import { type Batch, createSource, defineType, optional, readRecords, viewsOf } from '@sonde/sdk'
import { batchProjection, createFieldSet } from '@sonde/sdk/internal'
import { type BenchResult, type Figure, median } from '../bench.ts'
import { portBatch, portFields, RECORDS } from '../port-records.ts'

const BATCHES = 200
/** Objects are slow enough to be measured with fewer. */
const OBJECT_BATCHES = 20
const SET = createFieldSet('fset', '[bench_port]\n^rx\n', 'bench.fset')

const sparse = {
  ...portFields,
  rx_packets_total: optional(portFields.rx_packets_total),
  tx_packets_total: optional(portFields.tx_packets_total),
  heat: optional(portFields.heat),
}
const TYPES = {
  'all fields': defineType('bench_port', 'A port', portFields),
  'optional fields': defineType('bench_port', 'A port', sparse),
  'no alignment': defineType('bench_port', 'A port', portFields, { layout: 'packed' }),
}
const { time, device, rx_bytes_total, rx_packets_total, rx_drops_total } = portFields
const narrow = defineType('bench_port', 'A port', { time, device, rx_bytes_total, rx_packets_total, rx_drops_total })

/** Reads each record as an object, and reports its part. */
function reportAgain({ type, bytes, count, symbols }: Batch, source: ReturnType<typeof createSource>): void {
  for (const record of readRecords(type, viewsOf(bytes), count, symbols)) {
    const { time, device, rx_bytes_total, rx_packets_total, rx_drops_total } = record as never
    source.report(narrow, { time, device, rx_bytes_total, rx_packets_total, rx_drops_total })
  }
  source.flush()
}

/** Time of one record. Unit: nanoseconds. */
function nsOf(batches: number, run: () => void): number {
  const start = process.hrtime.bigint()
  for (let i = 0; i < batches; i++) run()
  return Number(process.hrtime.bigint() - start) / (batches * RECORDS)
}

/** What the field set of a destination costs; see the README beside. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const again = createSource({ id: 'again', bufferBytes: 1 << 20, emit: () => undefined })
  const figures = Object.entries(TYPES).flatMap(([words, type]): Figure[] => {
    const batch = portBatch(type as (typeof TYPES)['all fields'])
    const project = batchProjection(batch.type, { set: SET })
    const samples = { filter: [] as number[], copy: [] as number[], objects: [] as number[] }
    for (let round = -2; round < rounds; round++) {
      const filter = nsOf(BATCHES, () => void project(batch))
      const copy = nsOf(BATCHES, () => void batch.bytes.slice())
      const objects = nsOf(OBJECT_BATCHES, () => reportAgain(batch, again))
      if (round < 0) continue
      samples.filter.push(filter)
      samples.copy.push(copy)
      samples.objects.push(objects)
    }
    const against = (peer: readonly number[]) => median(peer.map((ns, i) => ns / (samples.filter[i] ?? Number.NaN)))
    return [
      { name: `${words}: filter`, value: 1000 / median(samples.filter), unit: 'M records/s' },
      { name: `${words}: filter against objects`, value: against(samples.objects), unit: 'x' },
      { name: `${words}: filter against plain copy`, value: against(samples.copy), unit: 'x' },
    ]
  })
  return { figures, lines: [`Batches of ${RECORDS} records of ten fields, five of which pass; one core.`] }
}
