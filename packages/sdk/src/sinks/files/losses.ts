import type { SourceInfo } from '../../schema/batch.ts'
import { lossType } from '../../schema/builtin.ts'
import { TextTable } from '../../schema/texts.ts'
import { allocateViews } from '../../schema/views.ts'
import { wallNs } from '../../source/clock.ts'
import { WRITER_SYMBOL_ID } from '../../wire/dtb/format.ts'
import type { BlockEntry } from './blocks.ts'
import type { FilesContext } from './context.ts'
import type { FilesDropReason } from './reasons.ts'

const SLOTS = new Map(lossType.layout.slots.map((slot) => [slot.name, slot.offset]))

/** Drops of one source, for its next file, so that a reader sees the gap in its place. */
export class Losses {
  readonly #totals = new Map<FilesDropReason, number>()
  /** The source whose file reports the drops; undefined if all are reported. */
  #unreported: SourceInfo | undefined

  /** The source whose file has to tell of losses. */
  get unreported(): SourceInfo | undefined {
    return this.#unreported
  }

  add(reason: FilesDropReason, records: number, source: SourceInfo): void {
    if (records === 0) return
    this.#totals.set(reason, (this.#totals.get(reason) ?? 0) + records)
    this.#unreported = source
  }

  /**
   * A record of `sonde_loss` for each reason, with its total since the sink was opened. The records count as written.
   */
  report(context: FilesContext, source: SourceInfo): BlockEntry {
    const { recordBytes } = lossType.layout
    const views = allocateViews(this.#totals.size * recordBytes)
    const time = wallNs()
    let at = 0
    for (const [reason, records] of this.#totals) {
      views.data.setBigUint64(at + slot('time'), time, true)
      views.data.setUint32(at + slot('component'), WRITER_SYMBOL_ID + context.ownText(context.config.name), true)
      views.data.setUint32(at + slot('reason'), WRITER_SYMBOL_ID + context.ownText(reason), true)
      views.data.setBigUint64(at + slot('records_total'), BigInt(records), true)
      at += recordBytes
    }
    this.#unreported = undefined
    const [count, { bytes }] = [this.#totals.size, views]
    const symbols = new TextTable(source.symbols)
    const batch = { type: lossType, source, clock: 'wall', count, bytes, symbols } as const
    return context.blocks.entryOf(batch, 0)
  }

  /** No later file will report the drops. */
  giveUp(): void {
    this.#unreported = undefined
  }

  /** The report was not written to the file. */
  reportAgain(source: SourceInfo): void {
    this.#unreported = source
  }
}

function slot(name: string): number {
  return SLOTS.get(name) ?? 0
}
