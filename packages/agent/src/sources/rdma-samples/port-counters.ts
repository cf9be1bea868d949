import type { RecordType } from '@sonde/sdk'
import type { Integer64 } from '@sonde/sdk/internal'
import { AttributeReader } from '../attribute-reader.ts'
import { FieldAbsences } from '../field-absences.ts'
import { type KernelFiles, ReadFailure } from '../kernel-file.ts'
import { CounterFolder, type Share } from '../rdma/counter-folder.ts'
import { readingNow } from '../rdma/link-pace.ts'
import type { CounterForm } from '../rdma/names.ts'
import type { SourceContext } from '../source.ts'
import type { PortPlace } from './port-files.ts'
import { pathOf } from './port-files.ts'

/** Longest pause before a refused file is read again. Unit: milliseconds. */
const PAUSE_MS = 60_000
const SHARES: readonly Share[] = ['frequent', 'rest']

/** Options of the counters of a port. */
export interface PortCountersParts<F extends string> {
  readonly folder: 'hw_counters' | 'counters'
  /** Forms of the counters by name. */
  readonly forms: ReadonlyMap<string, CounterForm<F>>
  /** Time between two readings. Unit: milliseconds. */
  readonly sampleMs: number
  readonly sysfs: KernelFiles
  readonly context: SourceContext
}

/** Result of a reading. */
export interface CountersRead {
  /** Whether there was any value. */
  readonly isAny: boolean
  /** Whether any value changed since the previous reading. */
  readonly isChanged: boolean
}

/** The sampled counters of one port, which it reads into a record. */
export class PortCounters<F extends string> {
  readonly #place: PortPlace
  readonly #context: SourceContext
  readonly #record: { [K in F]?: Integer64 | undefined }
  readonly #fields: readonly F[]
  readonly #last: (Integer64 | undefined)[]
  readonly #absences: FieldAbsences
  readonly #folder: CounterFolder<F>

  /** @param record Record of `type` that each reading fills. */
  constructor(
    place: PortPlace,
    type: RecordType,
    record: { [K in F]?: Integer64 | undefined },
    { folder, forms, sampleMs, sysfs, context }: PortCountersParts<F>,
  ) {
    this.#place = place
    this.#context = context
    this.#record = record
    this.#fields = [...forms.values()].map(({ field }) => field)
    this.#last = this.#fields.map(() => undefined)
    const labels = { rdma_device: place.device, port: String(place.port) }
    this.#absences = new FieldAbsences(context.absences, type, labels)
    const part = { record, attributes: new AttributeReader(context, this.#absences) }
    const pauseReadsMax = Math.ceil(PAUSE_MS / sampleMs)
    const path = [...pathOf(place), folder]
    this.#folder = new CounterFolder(path, forms, sysfs, { frequent: part, rest: part }, { pauseReadsMax })
  }

  /** Names of the counters that have reached their largest value. */
  get saturated(): readonly string[] {
    return this.#folder.saturated
  }

  /** Checks which counters exist. */
  scan(): void {
    const looked = this.#folder.scan()
    const { device, port } = this.#place
    if (looked instanceof ReadFailure && looked.kind === 'failed')
      this.#context.failed(`${device}/${port}`, looked.error)
    if (!SHARES.some((share) => this.#folder.count(share) > 0)) return
    for (const share of SHARES) this.#folder.reportAbsent(share, looked)
  }

  /** Reads all counters into the record. */
  read(): CountersRead {
    const reading = readingNow(undefined)
    for (const share of SHARES) this.#folder.read(share, reading)
    let [isChanged, isAny] = [false, false]
    for (const [index, field] of this.#fields.entries()) {
      const value = this.#record[field]
      if (value !== undefined) isAny = true
      if (value !== this.#last[index]) isChanged = true
      this.#last[index] = value
    }
    return { isAny, isChanged }
  }

  /** Forgets reported absences, because the series is gone. */
  forget(): void {
    this.#absences.forget()
  }

  close(): void {
    this.#folder.close()
  }
}

/** Forms of the sampled counters, by name. */
export function formsOf<F extends string>(
  all: ReadonlyMap<string, CounterForm<F>>,
  counters: readonly string[],
): ReadonlyMap<string, CounterForm<F>> {
  return new Map([...all].filter(([name]) => counters.includes(name)))
}
