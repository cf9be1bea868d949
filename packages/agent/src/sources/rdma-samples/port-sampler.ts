import { encoderOf, type Integer64, type RecordOf, type RecordType, viewsOf, wallNs } from '@sonde/sdk'
import { AttributeReader } from '../attribute-reader.ts'
import { emptyRecord } from '../empty-record.ts'
import { FieldAbsences } from '../field-absences.ts'
import { type KernelFile, type KernelFiles, ReadFailure } from '../kernel-file.ts'
import { CounterFolder, type Share } from '../rdma/counter-folder.ts'
import { readingNow } from '../rdma/link-pace.ts'
import { HW_COUNTERS, type HwField } from '../rdma/names.ts'
import { parseLifespan } from '../rdma/parse.ts'
import type { SampleRing, SourceContext } from '../source.ts'
import { LIFESPAN_MS, Lifespan } from './lifespan.ts'
import { rdmaSampleType, rdmaSamplingType } from './type.ts'

/** For how long a file that was refused is left alone at most. Unit: milliseconds. */
const PAUSE_MS = 60_000
const SHARES: readonly Share[] = ['telling', 'rest']

/** What all ports have in common. */
export interface PortSamplerParts {
  /** In the names of the driver. */
  readonly counters: readonly string[]
  readonly sampleMs: number
  /** Samples that are kept. */
  readonly ringSamples: number
  readonly sysfs: KernelFiles
  readonly context: SourceContext
}

/** Samples the counters of one port into a ring of the host, called `DEVICE/PORT`. */
export class PortSampler {
  readonly #device: string
  readonly #port: number
  readonly #context: SourceContext
  readonly #record: RecordOf<typeof rdmaSampleType>
  readonly #fields: readonly HwField[]
  readonly #last: (Integer64 | undefined)[]
  readonly #attributes: AttributeReader
  readonly #sampling: AttributeReader
  readonly #folder: CounterFolder<HwField>
  readonly #lifespanFile: KernelFile
  readonly #lifespan = new Lifespan()
  readonly #ring: SampleRing
  readonly #views = viewsOf(new Uint8Array(rdmaSampleType.layout.recordBytes))
  readonly #put: () => void
  /** As the driver tells it. Unit: milliseconds. */
  #lifespanMs: number | undefined
  /** Since the last record. */
  #samples = 0
  #repeats = 0
  #reported = false

  /** @throws SondeError `AGT_TAP` where the rings of the source would be larger than they may be. */
  constructor(device: string, port: number, { counters, sampleMs, ringSamples, sysfs, context }: PortSamplerParts) {
    const path = ['class', 'infiniband', device, 'ports', String(port), 'hw_counters']
    this.#device = device
    this.#port = port
    this.#context = context
    this.#record = { ...emptyRecord(rdmaSampleType), device, port }
    const forms = new Map([...HW_COUNTERS].filter(([name]) => counters.includes(name)))
    this.#fields = [...forms.values()].map(({ field }) => field)
    this.#last = this.#fields.map(() => undefined)
    const attributesOf = (type: RecordType) =>
      new AttributeReader(context, new FieldAbsences(context.absences, type, { device, port: String(port) }))
    this.#attributes = attributesOf(rdmaSampleType)
    this.#sampling = attributesOf(rdmaSamplingType)
    const part = { record: this.#record, attributes: this.#attributes }
    const pauseReadsMax = Math.ceil(PAUSE_MS / sampleMs)
    this.#folder = new CounterFolder(path, forms, sysfs, { telling: part, rest: part }, { pauseReadsMax })
    this.#lifespanFile = sysfs.file(...path, 'lifespan')
    this.#ring = context.sampled(rdmaSampleType, `${device}/${port}`, ringSamples)
    const encode = encoderOf(rdmaSampleType, context.source.symbols)
    this.#put = () => {
      encode(this.#record, this.#views, 0)
      this.#ring.put(this.#views.bytes)
    }
  }

  /** Looks which counters there are, and how long the driver repeats them. Whether there is anything to sample. */
  scan(): boolean {
    const looked = this.#folder.scan()
    if (looked instanceof ReadFailure && looked.kind === 'failed')
      this.#context.failed(`${this.#device}/${this.#port}`, looked.error)
    const isThere = SHARES.some((share) => this.#folder.count(share) > 0)
    if (isThere) for (const share of SHARES) this.#folder.tellLacks(share, looked)
    this.#lifespanMs = this.#sampling.read('lifespan_seconds', this.#lifespanFile, parseLifespan)
    this.#lifespan.ms = this.#lifespanMs ?? LIFESPAN_MS
    return isThere
  }

  /** Takes a sample; whether there was any value. */
  sample(): boolean {
    const monoNs = process.hrtime.bigint()
    const reading = readingNow(undefined)
    for (const share of SHARES) this.#folder.read(share, reading)
    let [isChanged, isAny] = [false, false]
    for (const [index, field] of this.#fields.entries()) {
      const value = this.#record[field]
      if (value !== undefined) isAny = true
      if (value !== this.#last[index]) isChanged = true
      this.#last[index] = value
    }
    if (!isAny) {
      this.#lifespan.restart()
      return false
    }
    const isRepeat = this.#lifespan.isRepeat(monoNs, isChanged)
    this.#record.time = monoNs
    this.#record.repeat = isRepeat ? 1 : 0
    this.#put()
    this.#samples++
    if (isRepeat) this.#repeats++
    return true
  }

  /** Reports how the sampling fares. */
  report(): void {
    // A port that has just come has its first sample now.
    if (this.#samples === 0 && !this.sample()) return
    const [device, port] = [this.#device, this.#port]
    this.#context.source.report(rdmaSamplingType, {
      ...{ time: wallNs(), device, port, samples: this.#samples, repeats: this.#repeats },
      lifespan_seconds: this.#lifespanMs === undefined ? undefined : this.#lifespanMs / 1000,
    })
    this.#samples = 0
    this.#repeats = 0
    this.#reported = true
  }

  /** Says that its series is gone, and its samples with it. */
  forget(reason: string): void {
    this.close()
    this.#ring.lose()
    this.#attributes.absences.forget()
    this.#sampling.absences.forget()
    const labels = { device: this.#device, port: String(this.#port) }
    this.#context.absences.gone(rdmaSampleType, labels, reason)
    if (this.#reported) this.#context.absences.gone(rdmaSamplingType, labels, reason)
  }

  close(): void {
    this.#folder.close()
    this.#lifespanFile.close()
  }
}
