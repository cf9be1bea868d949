import { counter, defineType, gauge, label, timestamp, value, viewsOf, wallNs } from '@sonde/sdk'
import { encoderOf } from '@sonde/sdk/internal'
import * as v from 'valibot'
import type { LibraryDefinition, NodeSource, SourceContext, SourceDefinition } from '../src/sources/source.ts'

// A source like that of a vendor's library with two devices: both are sampled at 10 kHz. Commands make edges of `e0`,
// or make it skip sample numbers.

/** Samples of a device: the counter rises by its number, so that every increase is known. */
export const edgeSampleType = defineType('edge_sample', 'A sample of a test', {
  time: timestamp(),
  device: label('Device'),
  sample: value('u32', { help: 'Number of the sample' }),
  bytes_total: counter('u64', { unit: 'bytes', help: 'A million a sample' }),
  level: gauge('f64', { help: 'The number of the sample, modulo 100' }),
})

/** What is reported of a device beside. */
export const edgeStateType = defineType('edge_state', 'State of a device of a test', {
  time: timestamp(),
  device: label('Device'),
  reads_total: counter('u64', { help: 'Reads' }),
})

/** What the source does. */
export type EdgeCommand =
  | { readonly kind: 'edge'; readonly rule: string; readonly device: string; readonly isStart: boolean }
  /** Leaves out samples from now on, so many. */
  | { readonly kind: 'skip'; readonly samples: number }
  | { readonly kind: 'crash' }

const edgeOptions = v.strictObject({
  /** An event opens or ends so often by itself; 0: only by command. Unit: milliseconds. */
  auto_ms: v.optional(v.number(), 0),
})
type EdgeOptions = v.InferOutput<typeof edgeOptions>

const PERIOD_NS = 100_000n
const RING_RECORDS = 100_000

const library: LibraryDefinition<object> = {
  name: 'edges',
  parallel: Number.POSITIVE_INFINITY,
  open: () => ({}),
  close: () => undefined,
}

function create({ auto_ms: autoMs }: EdgeOptions, context: SourceContext): NodeSource {
  let isOpen = false
  let turnedMs = performance.now()
  const turn = () => {
    if (autoMs === 0 || performance.now() - turnedMs < autoMs) return
    turnedMs = performance.now()
    isOpen = !isOpen
    context.edge({ rule: 'auto', device: 'e0', monoNs: process.hrtime.bigint(), errorNs: 1000n, isStart: isOpen })
  }
  const devices = ['e0', 'e1'].map((device) => new Sampled(context, device))
  const run = () => {
    for (const device of devices) device.drain()
    turn()
  }
  const report = () => {
    for (const { name, reads } of devices)
      context.source.report(edgeStateType, { time: wallNs(), device: name, reads_total: reads })
  }
  const duties = [
    { device: '', name: 'drain', everyUs: 20_000, run },
    { device: '', name: 'report', everyUs: 50_000, paces: 'report' as const, run: report },
  ]
  return {
    probe: () => ({ state: 'present', found: 'edges' }),
    duties: () => duties,
    command(given) {
      const command = given as EdgeCommand
      if (command.kind === 'crash') process.kill(process.pid, 'SIGKILL')
      else if (command.kind === 'skip') for (const device of devices) device.skip(command.samples)
      else {
        const monoNs = process.hrtime.bigint()
        context.edge({ ...command, monoNs, errorNs: 1000n })
        return { monoNs: String(monoNs) }
      }
      return {}
    },
    close: () => undefined,
  }
}

class Sampled {
  readonly name: string
  reads = 0
  readonly #ring
  readonly #encode
  #nextNs = process.hrtime.bigint()
  #number = 0

  constructor(context: SourceContext, name: string) {
    this.name = name
    this.#ring = context.sampled(edgeSampleType, name, RING_RECORDS)
    this.#encode = encoderOf(edgeSampleType, context.source.symbols)
  }

  skip(samples: number): void {
    this.drain()
    this.#number += samples
    this.#nextNs += BigInt(samples) * PERIOD_NS
  }

  drain(): void {
    this.reads++
    const nowNs = process.hrtime.bigint()
    if (nowNs < this.#nextNs) return
    const count = Math.min(5000, Number((nowNs - this.#nextNs) / PERIOD_NS))
    const { recordBytes } = edgeSampleType.layout
    const views = viewsOf(new Uint8Array(count * recordBytes))
    for (let index = 0; index < count; index++) {
      const sample = this.#number++
      const values = { bytes_total: BigInt(sample) * 1_000_000n, level: sample % 100 }
      this.#encode({ time: this.#nextNs, device: this.name, sample, ...values }, views, index * recordBytes)
      this.#nextNs += PERIOD_NS
    }
    this.#ring.put(views.bytes)
  }
}

/** What a child looks its source up in. */
export const SOURCES: readonly SourceDefinition[] = [
  {
    ...{ name: 'edges', summary: 'Has edges', types: [edgeSampleType, edgeStateType], intervalMs: 50 },
    ...{ host: library.name, module: import.meta.url, options: edgeOptions },
    load: async () => ({
      library,
      create: (options: object, context: SourceContext) => create(options as EdgeOptions, context),
    }),
  },
]
