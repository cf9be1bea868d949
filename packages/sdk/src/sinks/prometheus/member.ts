import type { SourceInfo } from '../../schema/batch.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { SeriesIndex } from '../../schema/series-index.ts'
import { type AddedLabels, LabelText } from '../../wire/prometheus/label-text.ts'
import { IndexTexts, textIndexesOf } from './index-texts.ts'
import type { KeptLabels } from './kept-labels.ts'
import type { QuotaHolder } from './quota.ts'

/** A source's part of a table. */
export interface Member {
  source: SourceInfo
  /** Where the source was replaced: the labels that its rows still use. */
  kept: KeptLabels | undefined
  readonly holder: QuotaHolder
  readonly index: SeriesIndex
  labels: LabelText
  /** Row of each series number. */
  readonly rows: number[]
  /** Where text fields are indexes: their texts. */
  readonly texts: IndexTexts | undefined
  /** Where rows have more labels than records declare: the text of the declared ones, and the rows by its key. */
  readonly declared: { labels: LabelText; readonly rows: Map<string, Set<number>> } | undefined
}

/**
 * A source of which no record came yet. A type is shown with more labels than it declares where fields are indexes, and
 * where labels are added.
 */
export function createMember(
  { declared, shown }: { readonly declared: RecordType; readonly shown: RecordType },
  source: SourceInfo,
  holder: QuotaHolder,
  added: AddedLabels | undefined,
): Member {
  const texts = textIndexesOf(declared, shown).length === 0 ? undefined : new IndexTexts(source.symbols)
  const isWider = shown !== declared || added !== undefined
  return {
    source,
    kept: undefined,
    holder,
    index: new SeriesIndex(shown),
    texts,
    labels: new LabelText(shown, source, added, texts),
    rows: [],
    declared: isWider ? { labels: new LabelText(declared, source), rows: new Map() } : undefined,
  }
}
