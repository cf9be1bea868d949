import { SondeError, warnOfFault } from '../errors.ts'
import type { SourceInfo } from '../schema/batch.ts'
import { SourceLabels } from '../schema/source-labels.ts'
import { LOSS_REASONS, SymbolTable } from '../schema/symbols.ts'
import { SourceTexts, TextTable } from '../schema/texts.ts'
import type { AllOptions } from './options.ts'

/**
 * What the batches of a source refer to: labels and texts, a table of each at a time. A source whose table of labels is
 * full goes on with an empty one, as a successor that takes over all series.
 */
export class SourceTables {
  readonly labels: SourceLabels
  readonly texts: SourceTexts
  /** What batches without text refer to. */
  labelsAlone: TextTable
  /** Who reports, with the labels of now. */
  info: SourceInfo
  /** Whether somebody may keep symbols, and report them in packed bytes: then they must go on to mean the same. */
  keepsSymbols = false
  /** Whether the table of labels is of use to anything since it began. */
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

  /** Whether an empty table of labels is allowed, and would have room. */
  get isWorthReplacing(): boolean {
    return !this.keepsSymbols && this.labels.isWorthReplacing
  }

  /** Goes on with empty tables. What is buffered would refer to the wrong ones. Gives the table of before. */
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
