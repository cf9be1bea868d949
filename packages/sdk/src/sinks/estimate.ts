import type { RatesAnswer, SeriesRate } from '../api/rates.ts'
import { nameFilter } from '../config/name-filter.ts'
import { coreOf, type FieldSet } from '../fieldset/fieldset.ts'
import type { Slot } from '../schema/layout.ts'
import { parseDefinition } from '../schema/parse-definition.ts'
import type { RecordType } from '../schema/record-type.ts'
import type { Destination } from './destinations.ts'
import { sourceFilter } from './source-tags.ts'

/** Bytes of a sample where a kind does not say. */
const SAMPLE_BYTES = 40

/** What a destination would be sent. All of it is an estimate. */
export interface Estimate {
  /** Series as `/metrics` has them: one for each value of a set of labels. */
  readonly series: number
  readonly samplesPerS: number
  readonly bytesPerS: number
}

/** Estimates from the rates of an agent what a destination is sent. Events, which have no series, are not in it. */
export function estimateOf(
  { definition, common }: Pick<Destination, 'definition' | 'common'>,
  fieldSet: FieldSet | undefined,
  { types, rates }: RatesAnswer,
): Estimate {
  const { set = 'full', intervalS = 0, sources = [], tags = [] } = common
  const known = new Map(types.map((each) => [each.fingerprint, parseDefinition(each.definition, each.fingerprint)]))
  const chosen = set === 'core' ? coreOf(fieldSet) : fieldSet
  const [isNamed, isTagged] = [nameFilter(sources), sourceFilter(tags)]
  let series = 0
  let samplesPerS = 0
  let bytesPerS = 0
  for (const rate of rates) {
    const type = known.get(rate.type)
    const { source: id, tag, series: labelSets } = rate
    if (type === undefined || labelSets === 0 || !isNamed(id) || !isTagged({ id, tag })) continue
    if (definition.carries?.(type) === false) continue
    const lines = linesOf(type, rate, chosen)
    const perSeriesS = rate.recordsPerS / labelSets
    const sentPerS = intervalS > 0 ? Math.min(perSeriesS, 1 / intervalS) : perSeriesS
    series += lines
    samplesPerS += lines * sentPerS
    const sampleBytes = lines * (definition.sampleBytes ?? SAMPLE_BYTES)
    bytesPerS +=
      sentPerS * (definition.recordBytes === undefined ? sampleBytes : labelSets * definition.recordBytes(type))
  }
  return { series, samplesPerS, bytesPerS }
}

/** The lines in `/metrics` of the fields that pass. */
function linesOf(type: RecordType, { present }: SeriesRate, set: FieldSet | undefined): number {
  const projection = set?.of(type)
  return type.layout.slots.reduce((sum, slot) => {
    const isSent = type.metrics.has(slot.name) && (projection?.has(slot) ?? true)
    return isSent ? sum + (present[slot.name] ?? 0) * widthOf(slot) : sum
  }, 0)
}

/** A histogram has a line for each bin, and one for its count; an array one for each element. */
function widthOf({ field }: Slot): number {
  return field.role === 'bucket' ? field.count + 1 : field.count
}
