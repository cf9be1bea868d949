import { counter, defineType, label, timestamp, value, viewsOf, wallNs } from '@sonde/sdk'
import { encoderOf } from '@sonde/sdk/internal'
import * as v from 'valibot'
import type { Duty, LibraryDefinition, NodeSource, SourceContext, SourceDefinition } from '../src/sources/source.ts'

// Two sources of one library of three meters, as a vendor's would be: `m0` samples itself at 10 kHz by a clock of its
// own, `m1` is polled, and a call to `m2` never comes back.

const TICKS_PER_SECOND = 1_000_000_000 / 16
const TICKS_PER_SAMPLE = BigInt(TICKS_PER_SECOND / 10_000)
/** How much faster the clock runs than it states. Unit: parts per million. */
const FAST_PPM = 40n
const RING_RECORDS = 200_000

/** The samples of `m0`: `time` is the time of the clock model, `true_ns` the real time. */
export const meterSampleType = defineType('meter_sample', 'A sample of a meter', {
  time: timestamp(),
  device: label('Meter'),
  sequence: value('u64', { help: 'Number of the sample' }),
  mono_ns: value('u64', { help: 'Monotonic clock, by the model' }),
  true_ns: value('u64', { help: 'Monotonic clock, in truth' }),
  error_ns: value('u64', { help: 'How far off the model says that it is at most' }),
})

/** What is polled: one row a call. */
export const meterPollType = defineType('meter_poll', 'A poll of a meter', {
  time: timestamp(),
  device: label('Meter'),
  polls_total: counter('u64', { help: 'Calls made' }),
  openings_total: counter('u64', { help: 'Times that the library was opened' }),
})

let openings = 0

/** The library: every number of it follows from the host's monotonic clock. */
class Meters {
  readonly #sinceNs = process.hrtime.bigint()
  #read = 0n

  /** The clock of `m0`, which has an epoch and a pace of its own. */
  ticks(): bigint {
    return this.#ticksAt(process.hrtime.bigint())
  }

  #ticksAt(monoNs: bigint): bigint {
    return ((monoNs - this.#sinceNs) * (1_000_000n + FAST_PPM)) / (16n * 1_000_000n) + 5_000n
  }

  /** When the clock showed so many ticks. */
  trueNs(ticks: bigint): bigint {
    return this.#sinceNs + ((ticks - 5_000n) * 16n * 1_000_000n) / (1_000_000n + FAST_PPM)
  }

  /** Numbers of the samples since the drain before, the first and the one after the last. */
  drain(): readonly [bigint, bigint] {
    const first = this.#read
    this.#read = this.ticks() / TICKS_PER_SAMPLE
    return [first, this.#read]
  }

  /** A call as a library makes it, on another thread. */
  async poll(device: string): Promise<void> {
    if (device === 'm2') await new Promise(() => undefined)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const library: LibraryDefinition<Meters> = {
  name: 'meters',
  parallel: Number.POSITIVE_INFINITY,
  open() {
    openings++
    return new Meters()
  },
  close: () => undefined,
}

function samplesOf(context: SourceContext): NodeSource {
  const meters = context.library as Meters
  const ring = context.sampled(meterSampleType, 'm0', RING_RECORDS)
  const clock = context.clock('m0', 'free', TICKS_PER_SECOND)
  const { recordBytes } = meterSampleType.layout
  const encode = encoderOf(meterSampleType, context.source.symbols)
  const drain = () => {
    const before = process.hrtime.bigint()
    const ticks = meters.ticks()
    clock.bracket(before, ticks, process.hrtime.bigint())
    const [first, end] = meters.drain()
    const views = viewsOf(new Uint8Array(Number(end - first) * recordBytes))
    for (let sequence = first; sequence < end; sequence++) {
      const at = sequence * TICKS_PER_SAMPLE
      const mono_ns = clock.monoNs(at)
      const times = { time: mono_ns, mono_ns, true_ns: meters.trueNs(at), error_ns: clock.errorNs(at) }
      encode({ device: 'm0', sequence, ...times }, views, Number(sequence - first) * recordBytes)
    }
    ring.put(views.bytes.subarray(0, Number(end - first) * recordBytes))
  }
  const duties: Duty[] = [{ device: 'm0', name: 'drain', everyUs: 20_000, paces: 'drain', run: drain }]
  return { ...ALWAYS, duties: () => duties }
}

function pollsOf(context: SourceContext): NodeSource {
  const meters = context.library as Meters
  const duties = ['m1', 'm2'].map((device): Duty => {
    let polls = 0
    const run = async () => {
      await meters.poll(device)
      const record = { time: wallNs(), device, polls_total: ++polls, openings_total: openings }
      context.report(device).report(meterPollType, record)
    }
    return { device, name: 'poll', everyUs: 10_000, paces: 'report', limitMs: 200, limitKey: 'meters.limit_ms', run }
  })
  return { ...ALWAYS, duties: () => duties }
}

const ALWAYS = { probe: () => ({ state: 'present', found: 'meters' }) as const, close: () => undefined }

function definition(name: string, create: (context: SourceContext) => NodeSource): SourceDefinition {
  return {
    ...{ name, summary: 'Reads meters', types: [meterSampleType, meterPollType], intervalMs: 50 },
    ...{ host: library.name, module: import.meta.url, options: v.strictObject({}) },
    load: async () => ({ library, create: (_options: object, context: SourceContext) => create(context) }),
  }
}

/** What the child looks its sources up in. */
export const SOURCES: readonly SourceDefinition[] = [
  definition('meter_samples', samplesOf),
  definition('meter_polls', pollsOf),
]
