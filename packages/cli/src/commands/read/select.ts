import { type Batch, type RecordType, viewsOf } from '@sonde/sdk'
import type { DtbBlockHeader, Slot, SourceEntry } from '@sonde/sdk/internal'
import type { RecordSlice } from './format.ts'
import { labelTexts } from './labels.ts'
import type { MatchedNames } from './nothing.ts'
import type { ReadOptions } from './options.ts'

/** Records that are taken at once, because their text may be many times as long. */
const AT_ONCE = { records: 1024, bytes: 256 << 10 } as const

type RecordFilter = Pick<ReadOptions, 'sources' | 'tags' | 'labels' | 'types' | 'startNs' | 'endNs'>

/** A type as it is shown. */
interface ShownType {
  readonly type: RecordType
  readonly slots: readonly Slot[]
}

/** The selected records, and their selected fields. */
export class Selection {
  readonly #options: RecordFilter
  readonly #slotsOf: (type: RecordType) => readonly Slot[]
  /** Keyed by fingerprint: every file declares its types again, and equal types are shown alike. */
  readonly #shown = new Map<string, ShownType>()
  /** Records that were left out because their time cannot be compared. */
  withoutTime = 0
  /** The names that each filter has seen. */
  readonly seen: MatchedNames = {
    sources: new Set(),
    tags: new Set(),
    labels: new Set(),
    types: new Set(),
    typesWithFields: new Set(),
  }

  /** @param slotsOf Returns the fields of a type that pass a field set; none if the type is left out. */
  constructor(options: RecordFilter, slotsOf: (type: RecordType) => readonly Slot[]) {
    this.#options = options
    this.#slotsOf = slotsOf
  }

  /** Whether records of a source may be selected. */
  takesSource({ id, tag, labels }: Pick<SourceEntry, 'id' | 'tag' | 'labels'>): boolean {
    this.seen.sources.add(id)
    if (!fits(id, this.#options.sources)) return false
    this.seen.tags.add(tag)
    if (!fits(tag, this.#options.tags)) return false
    const texts = labelTexts({ id, tag, labels })
    for (const text of texts) this.seen.labels.add(text)
    return this.#options.labels.length === 0 || texts.some((text) => fits(text, this.#options.labels))
  }

  /** Whether a block may hold selected records, as far as is known before it is read. */
  takesBlock(header: Pick<DtbBlockHeader, 'clock' | 'count' | 'firstNs' | 'lastNs'>, type: RecordType): boolean {
    const { clock, count, firstNs, lastNs } = header
    this.seen.types.add(type.name)
    if (!fits(type.name, this.#options.types) || this.#show(type).slots.length === 0) return false
    this.seen.typesWithFields.add(type.name)
    const { startNs, endNs } = this.#options
    if (startNs === undefined && endNs === undefined) return true
    if (type.time === undefined || clock !== 'wall') {
      this.withoutTime += count
      return false
    }
    this.#seeTimes(firstNs, lastNs)
    return lastNs >= (startNs ?? 0n) && (endNs === undefined || firstNs < endNs)
  }

  /** The selected records of a batch, some at a time. */
  *of(batch: Batch): Generator<RecordSlice> {
    const { bytes, count } = batch
    const { type, slots } = this.#show(batch.type)
    const shown = { ...batch, type }
    const { recordBytes } = type.layout
    const views = viewsOf(bytes)
    const isWanted = this.#timeFilter(type, views.data)
    const atOnce = Math.max(1, Math.min(AT_ONCE.records, Math.floor(AT_ONCE.bytes / recordBytes)))
    for (let from = 0; from < count; from += atOnce) {
      const offsets: number[] = []
      const to = Math.min(count, from + atOnce)
      for (let at = from * recordBytes; at < to * recordBytes; at += recordBytes) if (isWanted(at)) offsets.push(at)
      if (offsets.length > 0) yield { batch: shown, slots, views, offsets }
    }
  }

  #seeTimes(firstNs: bigint, lastNs: bigint): void {
    const { fromNs = firstNs, toNs = lastNs } = this.seen
    this.seen.fromNs = firstNs < fromNs ? firstNs : fromNs
    this.seen.toNs = lastNs > toNs ? lastNs : toNs
  }

  #show(type: RecordType): ShownType {
    const known = this.#shown.get(type.fingerprint)
    if (known !== undefined) return known
    const shown = { type, slots: this.#slotsOf(type) }
    this.#shown.set(type.fingerprint, shown)
    return shown
  }

  #timeFilter({ time }: RecordType, data: DataView): (offset: number) => boolean {
    const { startNs = 0n, endNs } = this.#options
    if (time === undefined || (startNs === 0n && endNs === undefined)) return () => true
    const factor = time.field.resolution === 'us' ? 1000n : 1n
    return (offset) => {
      const ns = data.getBigUint64(offset + time.offset, true) * factor
      return ns >= startNs && (endNs === undefined || ns < endNs)
    }
  }
}

/** The filters that the options set. */
export function selectionOf(options: ReadOptions): Selection {
  return new Selection(options, (type) => options.fields?.of(type).slots ?? type.layout.slots)
}

/**
 * Whether a name equals one of the given names, or has a given prefix that ends in `*`. Without given names, every name
 * matches.
 */
export function fits(name: string, given: readonly string[]): boolean {
  if (given.length === 0) return true
  return given.some((each) => (each.endsWith('*') ? name.startsWith(each.slice(0, -1)) : name === each))
}
