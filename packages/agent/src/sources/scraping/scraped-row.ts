import type { Labels, RecordType } from '@sonde/sdk'
import type { Slot } from '@sonde/sdk/internal'
import { FieldAbsences, Missing } from '../field-absences.ts'
import { impossible } from '../ranges/quantities.ts'
import { type RangedField, rangesOf } from '../ranges/range-of.ts'
import type { SourceContext } from '../source.ts'

/** Returns why an exporter does not report a field. */
export type WhyUntold = (type: RecordType, field: string) => string

/** Values of one series of a record type, kept across scrapes. */
export class ScrapedRow {
  readonly type: RecordType
  readonly labels: Labels
  /** Number of the last scrape that contained the series. */
  scrape = 0
  readonly #context: SourceContext
  readonly #device: string
  readonly #whyUntold: WhyUntold
  readonly #absences: FieldAbsences
  readonly #fields: readonly Slot[]
  readonly #ranges: ReadonlyMap<string, RangedField>
  /** Labels and texts, part of every record. */
  readonly #base: Record<string, unknown>
  readonly #values = new Map<string, number | bigint | Missing>()
  /** Fields with a value of the device itself, not a value copied for a pod. */
  readonly #isOwn = new Set<string>()
  /** Starts as true: another exporter may have left the series in the failed state. */
  #isFailed = true

  constructor(
    context: SourceContext,
    device: string,
    type: RecordType,
    labels: Readonly<Record<string, string | number>>,
    whyUntold: WhyUntold,
  ) {
    this.type = type
    this.labels = Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]))
    this.#context = context
    this.#device = device
    this.#whyUntold = whyUntold
    this.#absences = new FieldAbsences(context.absences, type, this.labels)
    this.#fields = type.layout.slots.filter(({ field }) => field.optional)
    this.#ranges = rangesOf(type)
    this.#base = { ...labels }
  }

  /** Starts a scrape: values of the previous scrape are dropped. Texts may be given with every series. */
  begin(scrape: number): void {
    if (this.scrape === scrape) return
    this.scrape = scrape
    this.#values.clear()
    this.#isOwn.clear()
  }

  /** Sets a field that is part of every record. */
  setConstant(name: string, value: number): void {
    this.#base[name] = value
  }

  setText(name: string, text: string): void {
    if (text !== '' || this.#base[name] === undefined) this.#base[name] = text
  }

  /** Sets a text from this scrape; it may be empty. */
  renewText(name: string, text: string): void {
    this.#base[name] = text
  }

  /**
   * Sets the value of a field. For several values of the same device the first counts. A value of the device replaces
   * values that were copied for a pod: if pods share a GPU, some copied fields describe only their processes.
   * Impossible values become missing values here, because other fields are computed from these values.
   */
  set(field: string, value: number | bigint | Missing, isOwn: boolean): void {
    if (this.#values.has(field) && (!isOwn || this.#isOwn.has(field))) return
    this.#values.set(field, this.checked(field, value))
    if (isOwn) this.#isOwn.add(field)
  }

  /** Returns the value, or a missing value if no hardware can have it. */
  checked(field: string, value: number | bigint | Missing): number | bigint | Missing {
    const quantity = value instanceof Missing ? undefined : this.#ranges.get(field)?.quantity
    return (quantity && impossible(quantity, value as number | bigint)) ?? value
  }

  /** Whether the scrape contained the field with an impossible or contradicted value. */
  isRefused(field: string): boolean {
    return this.#values.get(field) instanceof Missing
  }

  /** Marks a field as missing because the scrape contradicts itself. */
  refuse(field: string, lack: Missing): void {
    this.#values.set(field, lack)
  }

  /** Value of a field as a number; undefined if none was set. */
  numberOf(field: string): number | undefined {
    const value = this.#values.get(field)
    return typeof value === 'number' ? value : undefined
  }

  /** Whether the value describes the device itself and was not copied for a pod. */
  isOwn(field: string): boolean {
    return this.#isOwn.has(field)
  }

  report(time: bigint): void {
    if (this.#isFailed) {
      this.#isFailed = false
      this.#context.absences.clear(this.type, this.labels, '')
    }
    const record: Record<string, unknown> = { ...this.#base, time }
    for (const { name } of this.#fields) {
      const found = this.#absences.settle(name, this.#values.get(name) ?? this.#lackOf(name))
      if (found !== undefined) record[name] = found
    }
    this.#context.report(this.#device).report(this.type, record as never)
  }

  /** The scrape failed: all fields are absent. */
  fail(reason: string): void {
    this.#isFailed = true
    this.#context.absences.set(this.type, this.labels, '', 'failed', reason)
  }

  /** Removes the series. */
  leave(reason: string): void {
    this.#absences.forget()
    this.#context.absences.gone(this.type, this.labels, reason)
  }

  #lackOf(field: string): Missing {
    return new Missing('unsupported', this.#whyUntold(this.type, field))
  }
}
