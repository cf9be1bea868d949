import type { Absences, Labels, RecordType } from '@sonde/sdk'
import { seriesKey } from '@sonde/sdk/internal'
import { FieldAbsences, Missing } from '../field-absences.ts'
import { type OriginName, originsOf, type ServedMetric } from './metric-origins.ts'

/** After so many failed reads in a row, a preferred origin is passed over, if no origin was chosen before. */
const FAILED_READS_MAX = 3

/** A place that may have the value. */
export interface Offer<T> {
  readonly origin: OriginName
  /** Returns the present value, or why it is missing. The code `failed` may end with the next read. */
  read(): T | Missing | Promise<T | Missing>
}

/** The value, and where it comes from. */
export interface ServedReading<T> {
  readonly origin: OriginName
  readonly value: T
}

/** The origins that were chosen, by series. It lives as long as its source, so an opened device keeps its origins. */
export type ChosenOrigins = Map<string, OriginName>

/** Series of {@link ServedValue}. */
export interface ServedSeries {
  readonly metric: ServedMetric
  /** Default: the metric has no kinds. */
  readonly kind?: string
  readonly type: RecordType
  /** Its labels without `origin`. */
  readonly labels: Labels
}

/**
 * One value that several origins can serve. It takes the most preferred origin that has the value, and keeps it: a
 * series with a new origin would jump. A failed read changes nothing. If the origin no longer has the value, its series
 * ends with the reason, and the next origin starts a new series.
 */
export class ServedValue<T> {
  readonly #series: ServedSeries
  readonly #offers: readonly Offer<T>[]
  readonly #absences: Absences
  readonly #chosen: ChosenOrigins
  readonly #key: string
  /** Reports whether the series of the present origin has a value. */
  #told: FieldAbsences | undefined
  #failures = 0

  constructor(series: ServedSeries, offers: readonly Offer<T>[], absences: Absences, chosen: ChosenOrigins) {
    const { metric, kind, labels } = series
    const ranks = originsOf(metric, kind)
    this.#series = series
    this.#offers = ranks.flatMap((origin) => offers.filter((offer) => offer.origin === origin))
    this.#absences = absences
    this.#chosen = chosen
    this.#key = `${metric}{${seriesKey(labels)}}`
  }

  /** The origin of the last value; undefined before the first. */
  get origin(): OriginName | undefined {
    return this.#chosen.get(this.#key)
  }

  /** Reads the value from its origin. Undefined if it is missing, which is reported as the absence of its series. */
  async read(): Promise<ServedReading<T> | undefined> {
    const found = await this.#find()
    const { origin } = this
    if (origin === undefined) return undefined
    const { type, labels } = this.#series
    this.#told ??= new FieldAbsences(this.#absences, type, { ...labels, origin })
    const value = this.#told.settle('', found)
    return value === undefined ? undefined : { origin, value }
  }

  /** Ends its series. The next read starts with the same origin. */
  gone(reason: string): void {
    const { origin } = this
    if (origin !== undefined) this.#end(origin, reason)
  }

  async #find(): Promise<T | Missing> {
    const { origin } = this
    if (origin === undefined) return this.#choose()
    const value = await this.#readFrom(origin)
    if (!(value instanceof Missing) || value.code === 'failed') return value
    return (await this.#replace(origin, value)) ?? value
  }

  /** While a preferred origin fails, nothing is chosen: it may have the value a moment later. */
  async #choose(): Promise<T | Missing> {
    let missing: Missing | undefined
    for (const { origin } of this.#offers) {
      const value = await this.#readFrom(origin)
      if (!(value instanceof Missing)) return this.#take(origin, value)
      missing ??= value
      if (value.code === 'failed' && ++this.#failures < FAILED_READS_MAX) return value
    }
    return missing ?? new Missing('unsupported', 'nothing on this node counts it')
  }

  async #replace(old: OriginName, missing: Missing): Promise<T | undefined> {
    for (const { origin } of this.#offers) {
      if (origin === old) continue
      const value = await this.#readFrom(origin)
      if (value instanceof Missing) continue
      this.#end(old, `${old} no longer has it (${missing.reason}), so ${origin} serves it`)
      return this.#take(origin, value)
    }
    return undefined
  }

  async #readFrom(origin: OriginName): Promise<T | Missing> {
    const offer = this.#offers.find((one) => one.origin === origin)
    return (await offer?.read()) ?? new Missing('unsupported', `this device has no ${origin}`)
  }

  #take(origin: OriginName, value: T): T {
    this.#chosen.set(this.#key, origin)
    this.#failures = 0
    return value
  }

  #end(origin: OriginName, reason: string): void {
    const { type, labels } = this.#series
    this.#absences.gone(type, { ...labels, origin }, reason)
    this.#told = undefined
  }
}
