import assert from 'node:assert/strict'
import { type Batch, createSchema, createSource, readRecords, type Source, sinkStats, viewsOf } from '@sonde/sdk'
import { type Symbols, SymbolTable } from '@sonde/sdk/internal'
import { DISTINCT, type Step, steps, stepType } from './record.ts'
import { CountingSink } from './sink.ts'

/** One way from records to bytes. */
export interface Contender {
  readonly name: string
  /** Records a round takes; a multiple of {@link DISTINCT}. */
  readonly times: number
  /** Reports so many records; all of their bytes have reached the sink when it returns or resolves. */
  run(sink: CountingSink, times: number): void | Promise<void>
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
    readyContender(),
    contender('reporter, values in order', reportValues),
    contender('report, packed bytes', (source) => {
      const page = packedFor(source)
      return (times) => {
        for (let i = 0; i < times; i += PACKED) source.report(stepType, page, PACKED)
      }
    }),
  ]
}

/** A source of a schema, whose loop asks for room before each record. */
function readyContender(): Contender {
  let symbols = new SymbolTable()
  return {
    name: 'report, objects one by one, ready awaited before each',
    times: TIMES,
    async run(into, times) {
      const take = ({ bytes, count }: Batch) => into.take(bytes, count)
      const done = () => Promise.resolve()
      const sink = { name: 'counting', stats: sinkStats(), accept: take, flush: done, close: done }
      const schema = createSchema({ name: 'bench', sinks: [sink] })
      schema.addType(stepType)
      await schema.start()
      const source = schema.createSource({ tag: '' })
      for (let i = 0; i < times; i++) {
        await source.ready()
        source.report(stepType, steps[i % DISTINCT] as Step)
      }
      symbols = source.symbols
      await schema.close()
    },
    check: (sink) => checkLast(sink, symbols),
  }
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
    check: (sink) => checkLast(sink, source.symbols),
  }
}

/** Reads the first record of the last page back. */
function checkLast({ last }: CountingSink, symbols: Symbols): void {
  const count = last.byteLength / stepType.layout.recordBytes
  const [first] = readRecords(stepType, viewsOf(last), count, symbols)
  const { job, tokens, loss, flags } = first ?? {}
  const wanted = steps.find((step) => step.flags === flags)
  assert.deepEqual({ job, tokens, loss }, { job: wanted?.job, tokens: BigInt(wanted?.tokens ?? 0), loss: wanted?.loss })
}

/** The values of a record, as a program has them in variables. */
function reportValues(source: Source): (times: number) => void {
  const report = source.reporter(stepType, NAMES)
  return (times) => {
    for (let i = 0; i < times; i++) {
      const s = steps[i % DISTINCT] as Step
      report(
        s.time,
        s.job,
        s.rank,
        s.step,
        s.tokens,
        s.loss,
        s.gradient_norm,
        s.seconds,
        s.queue_depth,
        s.workers,
        s.retries,
        s.flags,
      )
    }
  }
}

/** A page of records that some other program packed: the same bytes that the source makes. */
function packedFor(source: Source): Uint8Array {
  const pages: Uint8Array[] = []
  const packing = createSource({
    // Of the same name: a source's own symbols come first.
    id: source.info.id,
    bufferBytes: PACKED * stepType.layout.recordBytes,
    emit: ({ bytes }) => pages.push(bytes.slice()),
  })
  for (let i = 0; i < PACKED; i += DISTINCT) packing.report(stepType, steps)
  for (const text of packing.symbols.since(0)) source.symbols.id(text)
  return pages[0] ?? new Uint8Array()
}
