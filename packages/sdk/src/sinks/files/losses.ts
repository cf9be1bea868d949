import type { SourceInfo } from '../../schema/batch.ts'
import { lossType } from '../../schema/builtin.ts'
import { TextTable } from '../../schema/texts.ts'
import { allocateViews } from '../../schema/views.ts'
import { wallNs } from '../../source/clock.ts'
import { WRITER_SYMBOL_ID } from '../../wire/dtb/format.ts'
import type { Entry } from './blocks.ts'
import type { FilesContext } from './context.ts'
import type { FilesDropReason } from './reasons.ts'

const SLOTS = new Map(lossType.layout.slots.map((slot) => [slot.name, slot.offset]))

/** What was dropped of one source, so that its next file can say so: a reader sees the gap where it is. */
export class Losses {
  readonly #totals = new Map<FilesDropReason, number>()
  /** Whose file tells it; undefined if everything is told. */
  #untold: SourceInfo | undefined

  /** The source whose file has to tell of losses. */
  get untold(): SourceInfo | undefined {
    return this.#untold
  }

  add(reason: FilesDropReason, records: number, source: SourceInfo): void {
    if (records === 0) return
    this.#totals.set(reason, (this.#totals.get(reason) ?? 0) + records)
    this.#untold = source
  }

  /**
   * A record of `sonde_loss` a reason, with what was dropped for it since the sink was opened. They are taken to be
   * written.
   */
  tell(context: FilesContext, source: SourceInfo): Entry {
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
    this.#untold = undefined
    const [count, { bytes }] = [this.#totals.size, views]
    const symbols = new TextTable(source.symbols)
    const batch = { type: lossType, source, clock: 'wall', count, bytes, symbols } as const
    return context.blocks.entryOf(batch, 0)
  }

  /** There is nobody left to tell. */
  giveUp(): void {
    this.#untold = undefined
  }

  /** What was told is not in the file after all. */
  tellAgain(source: SourceInfo): void {
    this.#untold = source
  }
}

function slot(name: string): number {
  return SLOTS.get(name) ?? 0
}
