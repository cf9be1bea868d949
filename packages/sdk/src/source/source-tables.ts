import { SondeError, warnOfFault } from '../errors.ts'
import type { SourceInfo } from '../schema/batch.ts'
import { SourceLabels } from '../schema/source-labels.ts'
import { LOSS_REASONS, SymbolTable } from '../schema/symbols.ts'
import { SourceTexts, TextTable } from '../schema/texts.ts'
import type { AllOptions } from './options.ts'

/**
 * The current tables of labels and texts of a source. When the table of labels is full, the source continues with an
 * empty table as its own successor, which takes over all series.
 */
export class SourceTables {
  readonly labels: SourceLabels
  readonly texts: SourceTexts
  /** The table for batches without text. */
  labelsAlone: TextTable
  /** The identity of the source, with its current labels. */
  info: SourceInfo
  /** Whether a caller may have kept symbols for packed bytes: then their meaning must not change. */
  keepsSymbols = false
  /** Whether a record has used the current table of labels. */
  isUsed = false

  constructor(options: Pick<AllOptions, 'id' | 'tag' | 'labels' | 'symbolLimit' | 'textLimit'>) {
    const { id, tag, labels, symbolLimit, textLimit } = options
    let isWarned = false
    const warn = () => {
      if (!isWarned) warnOfCut(id)
      isWarned = true
    }
    this.labels = new SourceLabels(() => new SymbolTable(symbolLimit, warn, [id, ...LOSS_REASONS]))
    this.texts = new SourceTexts(this.labels, textLimit)
    const { table: symbols } = this.labels
    this.labelsAlone = new TextTable(symbols)
    this.info = Object.freeze({ id, tag, labels, symbols, owner: {} })
  }

  /** Whether the table of labels may be replaced, and an empty table would help. */
  get isWorthReplacing(): boolean {
    return !this.keepsSymbols && this.labels.isWorthReplacing
  }

  /** Starts empty tables and returns the old table. Call it with empty buffers: their records use the old tables. */
  replace(): SymbolTable {
    const { table: before } = this.labels
    this.labels.replace()
    this.texts.replace()
    const { table: symbols } = this.labels
    this.labelsAlone = new TextTable(symbols)
    this.info = Object.freeze({ ...this.info, symbols })
    this.isUsed = false
    return before
  }
}

function warnOfCut(id: string): void {
  const what = `source ${id} was given a label or text of more than 4096 characters, which is cut to the first 4096`
  const advice =
    'records that differ beyond are of one series; symbols.cut of the source counts them, and this is said once'
  warnOfFault(new SondeError('SRC_TEXT_CUT', `${what}; ${advice}`))
}
