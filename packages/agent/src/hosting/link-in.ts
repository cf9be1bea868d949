import { type Batch, countDrop, type Labels, type RecordType, type SourceInfo } from '@sonde/sdk'
import { faultOfLabels, markType, PrefixTexts } from '@sonde/sdk/internal'
import { fault } from './channel.ts'
import { FloodBudget } from './flood.ts'
import { LinkTypes } from './link-types.ts'
import type { LinkMessage } from './protocol.ts'
import type { SourceStats } from './source-stats.ts'

/** Memory limit of the labels of a source, and of one table of its texts. Unit: bytes. */
const HELD_BYTES_MAX = 128 << 20
const CODES = { item: 'AGT_CHILD_MESSAGE', limit: 'AGT_CHILD_MESSAGE' }

/** The host holds each device to its budget; a host that does not may send as much as so many devices. */
const DEVICES = 16

/** Options of a {@link LinkIn}. */
export interface LinkInOptions {
  readonly name: string
  readonly labels: Labels
  /** The owner of the series in all lives of the host; see `SourceInfo`. */
  readonly owner: object
  /** Which life of the host this is; see `SourceInfo`. */
  readonly life: number
  readonly intervalMs: number
  /** Types that the source may report, beside Sonde's own. */
  readonly types: readonly RecordType[]
  /** Limit of the records of a device in an interval. Unit: bytes. */
  readonly floodBytes: number
  readonly stats: SourceStats
}

/**
 * Reads the messages of one source in one life of its host. They are not trusted: types must be declared, lengths must
 * match, and totals are limited.
 */
export class LinkIn {
  readonly #options: LinkInOptions
  readonly #types: LinkTypes
  #texts = new PrefixTexts(CODES)
  #info: SourceInfo
  readonly #budget: FloodBudget
  /** Of marks: no flood of records keeps the mark of an edge back. */
  readonly #marks: FloodBudget
  /** Memory of labels and texts. Unit: bytes. */
  #heldBytes = 0

  constructor(options: LinkInOptions) {
    const { name, labels, owner, life, intervalMs, types, floodBytes } = options
    this.#budget = new FloodBudget(floodBytes * DEVICES, intervalMs)
    this.#marks = new FloodBudget(floodBytes * DEVICES, intervalMs)
    this.#options = options
    this.#types = new LinkTypes(types)
    this.#info = { id: name, tag: '', labels, symbols: this.#texts, owner, life }
  }

  /**
   * Takes a message; the batch where it holds one that may be passed on.
   *
   * @throws SondeError `AGT_CHILD_MESSAGE` if it sent more than it may: a symbol that is left out would give others
   * its id.
   */
  take(message: LinkMessage): Batch | undefined {
    if (message.kind === 'batch') return this.#batchOf(message)
    if (message.kind === 'symbols') this.#takeSymbols(message)
    else if (message.kind === 'type') this.#types.take(message)
    else this.#takeLabels(message)
    return undefined
  }

  /** A new table of labels belongs to a successor, which takes over all series of the source. */
  #takeSymbols({ firstId, texts }: Extract<LinkMessage, { kind: 'symbols' }>): void {
    if (firstId === 0 && this.#texts.count > 0) {
      this.#texts = new PrefixTexts(CODES)
      this.#info = { ...this.#info, symbols: this.#texts }
      this.#heldBytes = 0
    }
    this.#heldBytes += this.#texts.take(firstId, texts)
    if (this.#heldBytes > HELD_BYTES_MAX) throw fault('holds more symbols than a source may send')
  }

  /** Properties of the library that apply to all its records; sent before the first batch. */
  #takeLabels({ labels }: Extract<LinkMessage, { kind: 'labels' }>): void {
    const wrong = faultOfLabels(labels)
    if (wrong !== undefined) throw fault(`holds labels whose ${wrong.place} is wrong`)
    this.#info = { ...this.#info, labels: { ...this.#options.labels, ...labels } }
  }

  #batchOf(message: Extract<LinkMessage, { kind: 'batch' }>): Batch | undefined {
    const { type: fingerprint, clock, count, bytes, window } = message
    const { stats } = this.#options
    const { ofBatches: symbols } = this.#texts
    const arrivedMs = performance.now()
    const type = this.#types.get(fingerprint)
    if (type === undefined || bytes.byteLength !== count * type.layout.recordBytes) {
      countDrop(stats, 'malformed', Math.min(count, bytes.byteLength))
      return undefined
    }
    // A window has its own limit, and its reader gives credit.
    if (window === undefined) {
      const budget = type === markType ? this.#marks : this.#budget
      budget.renew(arrivedMs)
      if (!budget.take(bytes.byteLength)) {
        countDrop(stats, 'flood', count)
        return undefined
      }
      stats.accepted({ type, count, bytes, symbols, arrivedMs })
    }
    return { type, source: this.#info, clock, count, bytes, symbols, origin: 'own', arrivedMs }
  }
}
