import type { Labels, RecordType } from '@sonde/sdk'
import type { Slot } from '@sonde/sdk/internal'
import { FieldAbsences, Lack } from '../field-absences.ts'
import { impossible } from '../ranges/quantities.ts'
import { type RangedField, rangesOf } from '../ranges/range-of.ts'
import type { SourceContext } from '../source.ts'

/** Why an exporter does not tell a field. */
export type WhyUntold = (type: RecordType, field: string) => string

/** The values of one series of a type, from scrape to scrape. */
export class Row {
  readonly type: RecordType
  readonly labels: Labels
  /** The scrape that last had it. */
  scrape = 0
  readonly #context: SourceContext
  readonly #device: string
  readonly #whyUntold: WhyUntold
  readonly #absences: FieldAbsences
  readonly #fields: readonly Slot[]
  readonly #ranges: ReadonlyMap<string, RangedField>
  /** What every record of it has: labels and texts. */
  readonly #base: Record<string, unknown>
  readonly #values = new Map<string, number | bigint | Lack>()
  /** Fields whose value was not copied for a pod: it is that of the device. */
  readonly #isOwn = new Set<string>()
  /** An exporter that told of it before may have left it so. */
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

  /** A scrape has it: what the one before had is forgotten. Texts may be given with every series. */
  begin(scrape: number): void {
    if (this.scrape === scrape) return
    this.scrape = scrape
    this.#values.clear()
    this.#isOwn.clear()
  }

  /** A field that every record has. */
  setConstant(name: string, value: number): void {
    this.#base[name] = value
  }

  setText(name: string, text: string): void {
    if (text !== '' || this.#base[name] === undefined) this.#base[name] = text
  }

  /** A text that this scrape says, empty or not. */
  renewText(name: string, text: string): void {
    this.#base[name] = text
  }

  /**
   * A value of a field. Of several of the same device the first counts, and before all that was copied for a pod the
   * one that was not: where pods share a GPU, the values of some fields are those of their processes. A value that no
   * hardware can have is a lack: others are made of what is set.
   */
  set(field: string, value: number | bigint | Lack, isOwn: boolean): void {
    if (this.#values.has(field) && (!isOwn || this.#isOwn.has(field))) return
    this.#values.set(field, this.checked(field, value))
    if (isOwn) this.#isOwn.add(field)
  }

  /** A value of a field, or a lack if no hardware can have that value. */
  checked(field: string, value: number | bigint | Lack): number | bigint | Lack {
    const quantity = value instanceof Lack ? undefined : this.#ranges.get(field)?.quantity
    return (quantity && impossible(quantity, value as number | bigint)) ?? value
  }

  /** Whether the scrape has no value of a field that it should have: the value is not possible or contradicted. */
  isRefused(field: string): boolean {
    return this.#values.get(field) instanceof Lack
  }

  /** What a scrape says of a field contradicts itself, or other fields. */
  refuse(field: string, lack: Lack): void {
    this.#values.set(field, lack)
  }

  /** A number that was set; undefined if there is none. */
  numberOf(field: string): number | undefined {
    const value = this.#values.get(field)
    return typeof value === 'number' ? value : undefined
  }

  /** Whether the value of a field is that of the device: it was not copied for a pod. */
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

  /** No scrape came: nothing of it is known. */
  fail(reason: string): void {
    this.#isFailed = true
    this.#context.absences.set(this.type, this.labels, '', 'failed', reason)
  }

  /** It is not there any more. */
  leave(reason: string): void {
    this.#absences.forget()
    this.#context.absences.gone(this.type, this.labels, reason)
  }

  #lackOf(field: string): Lack {
    return new Lack('unsupported', this.#whyUntold(this.type, field))
  }
}
