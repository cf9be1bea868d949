import type { Batch, BatchSymbols, RecordType } from '@sonde/sdk'
import { absenceType, KeptTexts, TextTable, timeSpanOfBatch } from '@sonde/sdk/internal'
import { Fifo } from './fifo.ts'
import { type Piece, Slabs } from './slabs.ts'

/**
 * A kept batch with the earliest and the latest time of its records. Its bytes stand until the main loop has its next
 * turn: then it may have left.
 */
export interface KeptBatch extends Batch {
  readonly fromMs: number
  readonly toMs: number
  readonly piece: Piece
  /** Memory of the texts that it keeps. Unit: bytes. */
  readonly textBytes: number
  /** Whether its bytes are no longer its own. */
  hasLeft: boolean
}

/** Memory of a batch beside its bytes. Unit: bytes. */
const OVERHEAD_BYTES = 256
const NS_PER_MS = 1e6

/**
 * The batches of one writer in the order of arrival: of the agent's own sources, or of one client. Each share has its
 * own slabs: otherwise a batch of a slow writer would keep a whole slab of a fast writer in use.
 */
export class WriterShare {
  readonly #slabs: Slabs
  readonly #texts = new KeptTexts()
  #textBytes = 0
  readonly #all = new Fifo<KeptBatch>()
  /** By fingerprint of the type. */
  readonly #byType = new Map<string, Fifo<KeptBatch>>()

  /** @param slabBytes See {@link Slabs}. */
  constructor(slabBytes: number) {
    this.#slabs = new Slabs(slabBytes)
  }

  /** Memory that its batches hold: whole slabs, since a batch of a few bytes keeps a slab. Unit: bytes. */
  get bytes(): number {
    return this.#slabs.bytes + this.#textBytes + OVERHEAD_BYTES * this.#all.length
  }

  /** The batch that arrived first. */
  get oldest(): KeptBatch | undefined {
    return this.#all.first
  }

  /** Copies a batch. */
  add(batch: Batch): void {
    const symbols = symbolsToKeep(batch)
    const textBytes = this.#texts.bytesOf({ symbols })
    const piece = this.#slabs.take(batch.bytes.byteLength)
    const kept = { ...keep(batch, piece), symbols, textBytes, hasLeft: false }
    this.#textBytes += textBytes
    const { fingerprint } = batch.type
    let list = this.#byType.get(fingerprint)
    if (list === undefined) {
      list = new Fifo()
      this.#byType.set(fingerprint, list)
    }
    list.push(kept)
    this.#all.push(kept)
  }

  /** Takes the oldest batch out. */
  drop(): KeptBatch | undefined {
    const kept = this.#all.shift()
    if (kept === undefined) return undefined
    kept.hasLeft = true
    const { fingerprint } = kept.type
    const list = this.#byType.get(fingerprint)
    list?.shift()
    if (list?.length === 0) this.#byType.delete(fingerprint)
    this.#slabs.give(kept.piece)
    this.#textBytes -= kept.textBytes
    return kept
  }

  /** Whether it has batches of a type. */
  has({ fingerprint }: RecordType): boolean {
    return this.#byType.has(fingerprint)
  }

  /** The batches of a type, oldest first. */
  batches({ fingerprint }: RecordType): KeptBatch[] {
    return this.#byType.get(fingerprint)?.list() ?? []
  }
}

/** Views show numbers and labels, and why a value is absent. All other text would take the room of records. */
function symbolsToKeep({ type, source, symbols }: Batch): BatchSymbols {
  return type.fingerprint === absenceType.fingerprint ? symbols : new TextTable(source.symbols)
}

function keep(taken: Batch, piece: Piece): Omit<KeptBatch, 'symbols' | 'textBytes' | 'hasLeft'> {
  const { bytes } = piece
  bytes.set(taken.bytes)
  const batch = { ...taken, checksum: undefined }
  if (batch.type.time === undefined) return { ...batch, bytes, piece, fromMs: Date.now(), toMs: Date.now() }
  const [earliestNs, latestNs] = timeSpanOfBatch(taken)
  return { ...batch, bytes, piece, fromMs: Number(earliestNs) / NS_PER_MS, toMs: Number(latestNs) / NS_PER_MS }
}
