import assert from 'node:assert/strict'
import { createSource, readRecords, type Source, viewsOf } from '@sonde/sdk'
import { DISTINCT, type Step, steps, stepType } from './record.ts'
import { CountingSink } from './sink.ts'

/** One way from records to bytes. */
export interface Contender {
  readonly name: string
  /** Records a round takes; a multiple of {@link DISTINCT}. */
  readonly times: number
  /** Reports so many records; all of their bytes have reached the sink when it returns. */
  run(sink: CountingSink, times: number): void
  /** Throws unless the sink's last page says what was reported. */
  check(sink: CountingSink): void
}

const TIMES = 1_024_000
/** Records of a page that is packed already. */
const PACKED = DISTINCT * 4

const NAMES = [
  'time',
  'job',
  'rank',
  'step',
  'tokens',
  'loss',
  'gradient_norm',
  'seconds',
  'queue_depth',
  'workers',
  'retries',
  'flags',
] as const

/** Ours, each by its way; what they emit is the same to the byte. */
export function sondeContenders(): readonly Contender[] {
  return [
    contender('report, objects one by one', (source) => (times) => {
      for (let i = 0; i < times; i++) source.report(stepType, steps[i % DISTINCT] as Step)
    }),
    contender('report, arrays of 256 objects', (source) => (times) => {
      for (let i = 0; i < times; i += DISTINCT) source.report(stepType, steps)
    }),
    positional(),
    contender('report, packed bytes', (source) => {
      const page = packedFor(source)
      return (times) => {
        for (let i = 0; i < times; i += PACKED) source.report(stepType, page, PACKED)
      }
    }),
  ]
}

function contender(name: string, prepare: (source: Source) => (times: number) => void): Contender {
  let sink = new CountingSink()
  const source = createSource({ id: 'bench', emit: ({ bytes, count }) => sink.take(bytes, count) })
  const report = prepare(source)
  return {
    name,
    times: TIMES,
    run(into, times) {
      sink = into
      report(times)
      source.emit()
    },
    check: ({ last }) => {
      const count = last.byteLength / stepType.layout.recordBytes
      const [first] = readRecords(stepType, viewsOf(last), count, source.symbols)
      const { job, tokens, loss, flags } = first ?? {}
      const wanted = steps.find((step) => step.flags === flags)
      assert.deepEqual(
        { job, tokens, loss },
        { job: wanted?.job, tokens: BigInt(wanted?.tokens ?? 0), loss: wanted?.loss },
      )
    },
  }
}

/** From columns of numbers, as a program has them that never makes an object of a record. */
function positional(): Contender {
  const jobs = steps.map(({ job }) => job)
  const doubles = (name: keyof Step) => Float64Array.from(steps, (step) => Number(step[name]))
  const integers = (name: keyof Step) => Uint32Array.from(steps, (step) => Number(step[name]))
  const [time, tokens, loss] = [doubles('time'), doubles('tokens'), doubles('loss')]
  const [gradient, seconds] = [doubles('gradient_norm'), doubles('seconds')]
  const [rank, step, queue] = [integers('rank'), integers('step'), integers('queue_depth')]
  const [workers, retries, flags] = [integers('workers'), integers('retries'), integers('flags')]
  return contender('reporter, values in order', (source) => {
    const report = source.reporter(stepType, NAMES)
    return (times) => {
      for (let n = 0; n < times; n++) {
        const i = n % DISTINCT
        report(
          time[i] ?? 0,
          jobs[i] ?? '',
          rank[i] ?? 0,
          step[i] ?? 0,
          tokens[i] ?? 0,
          loss[i] ?? 0,
          gradient[i] ?? 0,
          seconds[i] ?? 0,
          queue[i] ?? 0,
          workers[i] ?? 0,
          retries[i] ?? 0,
          flags[i] ?? 0,
        )
      }
    }
  })
}

/** A page of records that some other program packed: the same bytes that the source makes. */
function packedFor(source: Source): Uint8Array {
  const pages: Uint8Array[] = []
  const packing = createSource({
    id: 'packing',
    bufferBytes: PACKED * stepType.layout.recordBytes,
    emit: ({ bytes }) => pages.push(bytes.slice()),
  })
  for (let i = 0; i < PACKED; i += DISTINCT) packing.report(stepType, steps)
  for (const text of packing.symbols.since(0)) source.symbols.id(text)
  return pages[0] ?? new Uint8Array()
}
